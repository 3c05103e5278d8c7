"""Langevin diffusions and replica exchange on grids: generators and their spectral gaps.

Imports targets and `samplers.hyperparameters`; contains no metric of a run.
"""
