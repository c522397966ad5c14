"""The reading of a file: everything that was decided about it before the import, how sure, and on which evidence.

In reading order: stated, reading, expected, fields, build, questions, end_of_file, other_file.
"""
