"""Profiles a file before it is loaded: encoding, compression, dialect, header, sample rows.

In reading order: sample, sniff, profile.
"""
