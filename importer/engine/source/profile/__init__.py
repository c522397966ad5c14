"""Profiles a file before it is loaded: encoding, compression, dialect, header, sample rows.

In reading order: expected_columns, encoding_detection, drawn_tables, sample, candidates, line_ends, delimiters,
quoting, header, layout, plain, sniff, converted_layout, profile.
"""
