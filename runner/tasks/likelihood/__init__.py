"""The likelihood that a model gives to data, by annealed importance sampling from both ends.

For the tasks `learn` and `evaluate`.
"""
