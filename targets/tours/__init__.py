"""Travelling salesmen: tours as a space, the density over them, TSPLIB instances and random cities.

Imports the contract of `targets` only.
"""
