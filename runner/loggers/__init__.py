"""Loggers: copies of the results elsewhere, made only where `logger=` names one.

Imports `report` and everything below it.
"""
