"""Problems on graphs as densities: cuts, independent sets, cliques, partitions; graphs random or from files.

Imports `targets.datasets` and the modules of `targets` outside rooms.
"""
