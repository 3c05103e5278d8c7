"""EDLP: entropic discrete Langevin samplers, which follow flat modes by an auxiliary variable.

Imports the contract, the proposals and the tuning.
"""
