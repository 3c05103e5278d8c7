"""Kernels on binary, ordinal and categorical spaces, and on tours: one file each, named after the sampler.

Imports the contract, Metropolis-Hastings and the proposals.
"""
