"""Finds the lines of a sample that are no records, and a delimiter at the end of each record.

In reading order: lines_above, odd_headers, lines_among.
"""
