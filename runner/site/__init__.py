"""The HTML report: a static site made from what is on disk, and a server that keeps it up to date.

Imports `report`, `loggers` and `sweep`; `runner.report.__main__` and the bench import it.
"""
