"""A file's bytes as records, divided as the server divides them: where each begins and ends, and its flaws.

In reading order: boundary/ (lines, state_machine, boundaries, stray_quotes), fields, no_records, byte_scan, blocks,
malformed, record_stream, large_values.
"""
