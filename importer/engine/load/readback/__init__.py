"""Reads loaded values back and compares them with the file."""
