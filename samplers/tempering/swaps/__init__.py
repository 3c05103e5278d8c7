"""A round of swaps along the replica axis: who meets whom, and whether they swap.

Imports the contract and `samplers.tempering.path`.
"""
