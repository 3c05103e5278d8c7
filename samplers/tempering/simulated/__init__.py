"""Simulated tempering: chains that move between temperatures, and the partition functions that this needs.

Imports the contract, `samplers.pilot_run` and `samplers.tempering`.
"""
