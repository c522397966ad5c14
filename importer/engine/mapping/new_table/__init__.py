"""A new table from a file's sample: its names, types and formats, and the questions about them.

In reading order: typed_values, usual_values, fields, suggestion, decisions.
"""
