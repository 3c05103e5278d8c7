"""What is sampled from: state spaces, log densities, random numbers and data sets.

The contract is in `target`, `spaces` and `randomness`; `reference_distribution`, `predictive` and
`flat_modes` are what some targets can do besides. Knows PyTorch only; imports no other floor.
"""
