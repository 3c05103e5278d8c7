"""How the chains move: acceptance, jumps, swaps, round trips, effective sample size, R-hat.

Imports the contract and `statistics`.
"""
