"""Distributions in closed form: mixtures on grids and on the reals, 16 states, a small regression.

Imports the modules of `targets` outside rooms only.
"""
