"""Files of data sets: location, download and formats.

Used by `targets.datasets`, `targets.tabular`, `targets.graphs` and `targets.tours`.
"""
