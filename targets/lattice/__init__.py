"""Models of statistical physics: spins on lattices and random graphs, with their exact values.

Imports `targets.compiling` and the modules of `targets` outside rooms.
"""
