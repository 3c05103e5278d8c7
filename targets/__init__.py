"""What is sampled from: state spaces, log densities, random numbers and data sets.

The interface is in `targets.target`, `targets.spaces` and `targets.randomness`; optional capabilities are in
`targets.reference_distribution` and `targets.distinct_rows`. Imports no other floor.
The names in `__all__` are imported from their modules when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "Bernoulli4": "synthetic.bernoulli4",
    "Binary": "spaces",
    "BinaryBNN": "models.binary_bnn",
    "Categorical": "spaces",
    "Dataset": "datasets.dataset",
    "Discrete": "spaces",
    "Enumerable": "target",
    "ExactlySampled": "target",
    "GaussianMixture": "synthetic.gaussian_mixture",
    "HasFlatStates": "target",
    "HasHessians": "target",
    "HasModeWeights": "target",
    "HasModes": "target",
    "MinibatchLogistic": "synthetic.minibatch",
    "Minibatched": "target",
    "MixtureOfGaussians": "synthetic.mixture_of_gaussians",
    "MixtureOfStudentT": "synthetic.mixture_of_student_t",
    "Ordinal": "spaces",
    "Predictive": "distinct_rows",
    "RBM": "models.rbm",
    "Real": "spaces",
    "ReferenceDistribution": "reference_distribution",
    "ResNetEBM": "models.resnet_ebm",
    "Space": "spaces",
    "Streams": "randomness",
    "TSP": "tours.tsp",
    "TabularData": "tabular.tabular_data",
    "Tabulated": "synthetic.tabulated",
    "Target": "target",
    "Tours": "tours.tour_space",
    "singular_mixture": "synthetic.paper_mixtures",
    "stmh_two_modes": "synthetic.paper_mixtures",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """The public name, imported now, so that `import targets` alone does not import torch."""
    if name not in _MODULES:
        raise AttributeError(f"module 'targets' has no attribute {name!r}")
    return getattr(importlib.import_module(f"targets.{_MODULES[name]}"), name)
