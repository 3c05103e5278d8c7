"""Annealed importance sampling and exact log partition functions.

Imports kernels and targets; no metric of a run.
"""
