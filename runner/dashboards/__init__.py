"""Workspaces and reports in W&B: what is shown of an experiment or of any runs, beside their copies.

Imports `report`, `loggers`, `sweep` and the rooms below them; only the commands import it.
"""
