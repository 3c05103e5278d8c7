"""Distributions that are written down: mixtures on grids and on the reals, 16 states, a small regression.

Imports the contract of `targets` only.
"""
