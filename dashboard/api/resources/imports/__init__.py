"""Imports by the API: one and many of them, what they do, what they rejected, and what they would do."""
