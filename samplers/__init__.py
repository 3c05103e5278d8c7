"""Transition kernels, tempering around them, and the tuning of both.

The contract is in `kernel` and `metropolis_hastings`. Imports `targets` only; knows nothing of metrics, files
or configuration. The names in `__all__` are imported from their modules when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "AB": "discrete.ab",
    "ACS": "discrete.acs",
    "BlockGibbs": "discrete.block_gibbs",
    "DMALA": "discrete.dmala",
    "DULA": "discrete.dula",
    "EDMALA": "entropic.edmala",
    "EDMALAGLU": "entropic.edmala_glu",
    "EDULA": "entropic.edula",
    "EDULAGLU": "entropic.edula_glu",
    "ExactDraws": "reference.reference_draws",
    "GWG": "discrete.gwg",
    "GaussianWalk": "continuous.gaussian_random_walk",
    "Gibbs": "discrete.gibbs",
    "HammingBall": "discrete.hamming_ball",
    "HeldOutDraws": "reference.held_out_draws",
    "Info": "kernel",
    "Kernel": "kernel",
    "MALA": "continuous.mala",
    "MetropolisHastings": "metropolis_hastings",
    "ParallelTempering": "tempering.parallel_tempering",
    "RBMGibbs": "discrete.rbm_gibbs",
    "RandomWalk": "discrete.random_walk",
    "ReplicaExchangeLangevin": "tempering.replica_exchange_langevin",
    "SimulatedTempering": "tempering.simulated.simulated_tempering",
    "State": "kernel",
    "Swaps": "tempering.swaps.swap_round",
    "TourSwap": "discrete.tour_swap",
    "Tunable": "tuning.tunable",
    "ULA": "continuous.ula",
    "UniformDraws": "reference.reference_draws",
    "configured": "tuning.configured",
    "geometric_ladder": "tempering.ladder",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """The public name, imported now, so that `import samplers` alone does not import torch."""
    if name not in _MODULES:
        raise AttributeError(f"module 'samplers' has no attribute {name!r}")
    return getattr(importlib.import_module(f"samplers.{_MODULES[name]}"), name)
