"""Metrics of particular uses: tours, networks that predict, images that are reconstructed or classified.

Imports the contract and `statistics`.
"""
