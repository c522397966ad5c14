"""Workbooks: a sheet of an Excel or OpenDocument file as records.

In reading order: archive, cells; the kinds; sheets, declared.

Both are read as streams of XML, without a library for workbooks: openpyxl reads a formula without a saved result as
NULL, calamine holds the whole sheet in memory, and both give a number as a float instead of its digits.
"""
