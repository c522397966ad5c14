"""The optional C library for work that takes too long in Python."""
