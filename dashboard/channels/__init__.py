"""Pages of the notification channels."""
