"""A file's bytes as records, cut as the server cuts them: where each begins and ends, and what is wrong with it.

In reading order: lines, walk, boundaries, stray (flaws), blocks, whole_records, fields (large_values); chunk_rows.
"""
