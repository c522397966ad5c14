"""Rows that do not go in: found, told apart from those that do, and written down.

In reading order: review, sender, isolate (answer, warnings), account; reasons, duplicates, explain, parts.
"""
