"""Langevin diffusions and replica exchange on grids: generators and their spectral gaps.

Imports `enumeration`; no metric of a run.
"""
