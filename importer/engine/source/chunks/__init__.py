"""Cuts a file into chunks at record boundaries."""
