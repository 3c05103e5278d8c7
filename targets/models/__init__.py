"""Models with weights: restricted Boltzmann machine (RBM), residual network, binary Bayesian network.

Imports `targets.tabular`, `targets.compiling` and the modules of `targets` outside rooms.
"""
