"""Kernels on the reals: random walk, ULA, MALA.

Imports the contract, the proposals and the tuning.
"""
