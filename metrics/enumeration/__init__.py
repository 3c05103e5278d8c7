"""Kernels on small spaces as matrices: transition matrices, spectra, mixing times.

Imports kernels and targets; no metric of a run.
"""
