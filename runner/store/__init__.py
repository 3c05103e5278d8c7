"""Results on disk: one folder a run, and what lies in it.

Imports `config` and `execution`.
"""
