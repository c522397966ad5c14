"""The lab's arithmetic: grids of settings, order of trials, samples, budgets, ranking, curves and recommendation.

In reading order: grid, value_syntax, rounds, sampling, budget, ranking, finals, curves, recommendation.
"""
