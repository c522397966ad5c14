"""Finds the end of each record."""
