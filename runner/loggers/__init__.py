"""Loggers: copies of the results elsewhere, made only where `logger=` names one.

Imports `store` and `execution`.
"""
