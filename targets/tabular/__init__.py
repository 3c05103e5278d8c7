"""Tables of numbers with an outcome: one module per published set, read, checked and split; distinct rows.

Each has a `load` that a YAML of `conf/tabular` names. Imports `targets.datasets` only.
"""
