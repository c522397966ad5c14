"""Which field goes into which column, and how its text is converted."""
