"""Independent draws as kernels: the rows of a table that no sampler can beat.

Imports the contract only.
"""
