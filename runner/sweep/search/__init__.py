"""Sweeps that decide on their jobs as they go: what is searched, for which metric, and the search by Optuna.

Imports the rest of `sweep`.
"""
