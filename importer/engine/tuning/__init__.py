"""The lab's own values and SQL: which settings are tried, on what, in which order, within what, and what came of it.

In reading order: grid, written, rounds, sampling, budget, scratch, ranking, finals, curves, recommendation.
"""
