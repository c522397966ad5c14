"""Makes a copy of a file with its rows in the order of the primary key.

In reading order: sort_key, key_sample, runs, external_sort; original_positions has the rows' positions in the file.
"""
