"""Analysis of a table's numbers: the best sampler, comparisons, the floor, growth of a cost.

Imports the table's shape and its stored results.
"""
