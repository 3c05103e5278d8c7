"""Metrics of particular applications: tours, predictive networks, reconstructed and classified images.

Imports `metrics.metric`, `metrics.requirements` and `metrics.statistics`.
"""
