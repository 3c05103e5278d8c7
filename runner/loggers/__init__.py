"""Loggers: copies of the results elsewhere, made only where `logger=` names one.

Imports `problem`, `store` and the rooms below them.
"""
