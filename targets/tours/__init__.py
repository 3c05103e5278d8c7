"""The travelling salesman problem: tours as a space, a density over them, TSPLIB and random instances.

Imports `targets.synthetic`, `targets.datasets` and the modules of `targets` outside rooms.
"""
