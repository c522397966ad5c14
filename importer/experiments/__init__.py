"""The published measurements behind this project, each one a lab that anybody can run on a server of their own.

In reading order: experiment; raw (inserts, relay); judging; the five, methods to records, and known; chart, report.
"""
