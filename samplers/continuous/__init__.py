"""Kernels on the reals: random walk, ULA, MALA.

Imports the contract, Metropolis-Hastings and the proposals.
"""
