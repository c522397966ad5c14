"""The published measurements behind this project. Each one runs as a lab on a server of the user's.

In reading order: experiment.py; raw_statements.py with plain_inserts.py, and slow_link.py; verdicts.py; published/, a
file for each experiment; runner.py and trials.py; outcome.py, chart.py, report.py; command.py.
"""
