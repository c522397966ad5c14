"""Finds where each record ends."""
