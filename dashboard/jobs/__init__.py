"""Pages of the imports: the list, one import with its rejected rows, and the comparison of imports."""
