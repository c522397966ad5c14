"""The grid of the new import page: the first rows of a file as they will be stored, below the column of each field.

In reading order: view, columns, cells, grid.
"""
