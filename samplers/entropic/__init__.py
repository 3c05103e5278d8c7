"""EDLP: entropic discrete Langevin samplers, which follow flat modes by an auxiliary variable.

Imports the contract, Metropolis-Hastings and the proposals.
"""
