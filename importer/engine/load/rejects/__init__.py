"""Finds the rows of a chunk that the table does not accept, explains them, and writes them to reject files.

In reading order: prescreen, sender, isolate (load_result, server_warnings), reject_log; reasons, duplicate_lookup,
explain, reject_files.
"""
