"""What the pages of schedules are made of: the form, what it would find and when, the calendar, and the figures."""
