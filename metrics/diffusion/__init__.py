"""Langevin diffusions and replica exchange on grids: generators and their spectral gaps.

Imports targets only; contains no metric of a run.
"""
