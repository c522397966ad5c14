"""Pages of the lab: a new one, the list, one with its trials and recommendation."""
