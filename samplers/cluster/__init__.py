"""Kernels that move clusters of coordinates of targets whose coordinates interact in pairs.

Imports the contract, Metropolis-Hastings and the proposals.
"""
