"""Uploaded files on disk, and downloads of rejected rows."""
