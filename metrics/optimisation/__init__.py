"""How good the visited solutions of an optimisation problem are, and when they were found.

Imports `metrics.statistics` and the modules of `metrics` outside rooms.
"""
