"""Annealed importance sampling and exact log partition functions.

Imports kernels, targets and `metrics.statistics`; contains no metric of a run.
"""
