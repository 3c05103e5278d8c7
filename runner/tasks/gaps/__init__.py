"""The task `spectral_gap`, of kernels on small spaces and of diffusions on grids.

Imports `problem`.
"""
