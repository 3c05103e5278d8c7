"""Runs of a store chosen by their settings, and the table of any such choice: a grid search needs no YAML.

Imports the rooms of the report below the pages. The commands and `runner.load_runs` import it.
"""
