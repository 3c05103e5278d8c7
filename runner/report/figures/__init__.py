"""Figures of an experiment: how they are drawn, styled and written.

Imports `analysis`; the panels are in `runner.report.panels`.
"""
