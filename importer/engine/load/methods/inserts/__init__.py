"""The methods that load by INSERT statements."""
