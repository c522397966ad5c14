"""The mapping grid of a new import: the first rows as they will be stored, below the column of each field.

In reading order: view, columns, cells, grid.
"""
