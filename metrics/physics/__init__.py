"""Averages of statistical physics with jackknife errors, beside exact values where they are known.

Imports `statistics`, `requirements` and the modules outside rooms.
"""
