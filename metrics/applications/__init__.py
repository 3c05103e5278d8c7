"""Metrics of particular applications: tours, predictive networks, reconstructed and classified images.

Imports `metrics.metric`, `metrics.requirements`, `metrics.likelihood` and `metrics.statistics`.
"""
