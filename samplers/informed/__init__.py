"""Kernels that weigh the moves of single coordinates by a balancing function: one file each.

Imports the contract, Metropolis-Hastings and the proposals.
"""
