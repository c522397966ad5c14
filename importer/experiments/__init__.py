"""The published measurements behind this project. Each one runs as a lab on a server of the user's.

In reading order: workloads/, raw/, variants.py, experiment.py; verdicts.py; published/, a file for each experiment;
private_server.py, trials.py, runner.py; outcome.py, chart.py, report.py; management/.
"""
