"""Several hosts of workers on one machine."""
