"""Pages of the schedules: the list, the form with a preview, one schedule with its calendar and statistics."""
