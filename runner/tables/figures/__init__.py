"""Figures of an experiment, panel by panel."""
