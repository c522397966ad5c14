"""Backups of an installation: its database, keys, uploads and rejected rows in one archive (docs/backup.md).

A restore reads the whole archive before it changes anything. Then it lays everything ready next to its place, writes a
journal, and only after that puts things into place; a start finishes what a killed restore has begun (restore.py).
"""
