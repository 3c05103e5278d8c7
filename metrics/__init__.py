"""What is measured on samples and models.

The interface is in `metrics.metric`, `metrics.suite` and `metrics.requirements`. Imports `samplers` and
`targets`; does not depend on files or configuration.
The names in `__all__` are imported from their modules when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "Acceptance": "mixing.acceptance",
    "AuxiliaryDistance": "mixing.auxiliary_distance",
    "Barrier": "mixing.barrier",
    "ChainDraws": "library.chain_draws",
    "Context": "metric",
    "EMC": "discrepancy.emc",
    "EMCPerSample": "discrepancy.emc_per_sample",
    "ESS": "mixing.ess",
    "ESSMode": "mixing.ess",
    "FlatMass": "landscape.flat_mass",
    "Flatness": "landscape.flatness",
    "HessianSpectrum": "landscape.hessian_spectrum",
    "Jump": "mixing.jump",
    "KL": "discrepancy.kl",
    "KLClipped": "discrepancy.kl",
    "LevelOccupancy": "mixing.level_occupancy",
    "LocalEntropy": "landscape.local_entropy",
    "LogMMD": "discrepancy.log_mmd",
    "LogMMDSlice": "discrepancy.log_mmd_slice",
    "LogMeanGap": "discrepancy.log_mean_gap",
    "MMD": "discrepancy.mmd",
    "MMDExact": "discrepancy.mmd_exact",
    "MMDUnsharedFeatures": "discrepancy.mmd_unshared_features",
    "MeanNorm": "mixing.mean_norm",
    "Metric": "metric",
    "MetricSuite": "suite",
    "PredictiveLogLikelihood": "applications.predictive_log_likelihood",
    "PredictiveRMSE": "applications.predictive_rmse",
    "RHat": "mixing.rhat",
    "RHatMode": "mixing.rhat",
    "RoundTrips": "mixing.round_trips",
    "Statistic": "metric",
    "SwapRate": "mixing.swap_rate",
    "TV": "discrepancy.tv",
    "TourCost": "applications.tour_cost",
    "TourMismatch": "applications.tour_mismatch",
    "UnsupportedMetric": "metric",
    "ValidationRMSE": "applications.predictive_rmse",
    "by_seed": "metric",
    "run_chains": "library.run_chains",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """The public name, imported now, so that `import metrics` alone does not import torch."""
    if name not in _MODULES:
        raise AttributeError(f"module 'metrics' has no attribute {name!r}")
    return getattr(importlib.import_module(f"metrics.{_MODULES[name]}"), name)
