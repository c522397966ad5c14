"""SQL dumps: the rows of INSERT and REPLACE as records. In reading order: tokens, values, dump, layout, declared."""
