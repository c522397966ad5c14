"""The mapping: which field goes into which column, and how its text is converted."""
