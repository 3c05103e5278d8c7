"""Models with weights: restricted Boltzmann machine (RBM), residual network, binary Bayesian network.

Imports all other modules and rooms of `targets` but `targets.tours`.
"""
