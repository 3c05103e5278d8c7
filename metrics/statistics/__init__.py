"""Accumulators that several metrics share, and intervals and tests over seeds.

Imports the contract only.
"""
