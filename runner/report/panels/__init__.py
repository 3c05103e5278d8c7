"""The kinds of panels that a figure is made of, one file each.

Imports `runner.report.figures`.
"""
