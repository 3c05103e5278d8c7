"""Tables of numbers with an outcome: one module per published set, read, checked and split.

Imports `targets.datasets` only.
"""
