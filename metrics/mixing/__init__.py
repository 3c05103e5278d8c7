"""How the chains move: acceptance, jumps, swaps, round trips, effective sample size, R-hat.

Imports `metrics.metric`, `metrics.requirements` and `metrics.statistics`.
"""
