"""Tempering around any kernel: parallel tempering, replica exchange, simulated tempering.

Imports the contract, the proposals and the tuning; no kernel imports it.
"""
