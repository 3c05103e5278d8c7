"""Proposal distributions of Langevin type, discrete and continuous, that kernels are made of.

Imports `samplers.kernel` only.
"""
