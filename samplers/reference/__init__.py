"""Independent draws as kernels: exact, held-out and uniform ones, the baselines of a table.

Imports the contract only.
"""
