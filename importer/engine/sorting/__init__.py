"""A copy of a file with its rows in the order of the primary key.

In reading order: keys, sample, runs, copy; places tells where the rows stood.
"""
