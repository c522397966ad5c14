"""Finds the lines of a sample that are no records, a delimiter at the end of each record, and other layouts than CSV.

In reading order: lines_above, odd_headers, lines_among, other_layouts.
"""
