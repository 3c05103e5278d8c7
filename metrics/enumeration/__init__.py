"""Kernels on small spaces as matrices: transition matrices, spectra, mixing times.

Imports kernels and targets only; contains no metric of a run.
"""
