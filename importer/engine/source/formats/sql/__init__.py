"""SQL dumps: the rows of INSERT and REPLACE as records.

In reading order: session, tokens, values, dump, layout, declared.
"""
