"""Rejected rows of an import: their counts, their limits, and their files."""
