"""Profiles a file before it is loaded: encoding, compression, dialect, header, sample rows.

In reading order: expected_columns, encoding_detection, sample, readings, delimiters, quoting, header, layout, plain,
sniff, converted_layout, profile.
"""
