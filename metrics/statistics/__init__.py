"""Accumulators that several metrics share, and intervals and tests over seeds.

Imports `metrics.metric` and `metrics.requirements` only.
"""
