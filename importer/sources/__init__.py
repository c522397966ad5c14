"""Uploaded files on disk, and the files of this machine that a name means."""
