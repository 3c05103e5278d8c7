"""A configuration as objects: target, kernel and metrics, with tuned numbers and reference samples.

Imports `models` and everything below it.
"""
