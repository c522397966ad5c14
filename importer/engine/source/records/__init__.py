"""A file's bytes as records, divided as the server divides them: where each begins and ends, and its flaws.

In reading order: lines, boundary/ (state_machine, boundaries, stray_quotes), byte_scan, blocks, malformed,
record_stream, fields, large_values.
"""
