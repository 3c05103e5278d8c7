"""Tempering around any kernel: parallel and simulated tempering, replica exchange, simulated annealing.

Imports the contract, Metropolis-Hastings, the proposals and `samplers.pilot_run`; no kernel imports it.
"""
