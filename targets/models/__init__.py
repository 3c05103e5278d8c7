"""Models with weights: restricted Boltzmann machine, residual network, binary Bayesian network.

Imports the contract of `targets` and the data sets only.
"""
