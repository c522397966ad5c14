"""Pages of the imports: the list, one import, rejected rows, and imports compared."""
