"""Accumulators that several metrics share, and the jackknife of what they hold.

Imports `metrics.metric` and `metrics.requirements` only.
"""
