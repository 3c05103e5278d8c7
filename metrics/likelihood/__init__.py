"""Annealed importance sampling, exact log partition functions, and thermodynamic integration, a metric.

Imports kernels, targets and `metrics.statistics`.
"""
