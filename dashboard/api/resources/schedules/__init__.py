"""Schedules by the API: what they are, their runs, and what is decided about them."""
