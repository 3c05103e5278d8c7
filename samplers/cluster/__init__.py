"""Kernels that move clusters of coordinates of targets whose coordinates interact in pairs.

Imports the contract and the proposals.
"""
