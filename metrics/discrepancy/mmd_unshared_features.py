"""The printed MMD of PT-DLP v1: random features of histogram rows, with different maps for the two inputs.

Its value is about 2 for all inputs (settings A.3). The rows of a normalised 101 x 101 histogram have entries
near 1e-4, so W h is near 0 and phi(h) near sqrt(2 / D) cos b. With independent b and b',
E |phi - phi'|^2 = 2 E (cos b - cos b')^2 = 2, with standard deviation 2 sqrt(1.25 / D). It is provided only
for comparison with the published table; `mmd` and `mmd_exact` measure the discrepancy.
"""

from __future__ import annotations

import math
from functools import cached_property

import torch
from torch import Tensor

from metrics.metric import Context
from metrics.statistics.visit_histogram import FrequencyMetric
from samplers.hyperparameters import positive
from targets.checks import whole_number

ROWS_AT_ONCE = 1024


class MMDUnsharedFeatures(FrequencyMetric):
    """|mean phi(rows of the draws' histogram) - mean phi'(rows of the target's)|^2 with unrelated phi, phi'.

    Each row of the histogram (all coordinates but the last held fixed) is one point in R^levels. The feature
    maps are drawn for each run from its seed. It has no direction: the value does not depend on the draws.

    Args:
        features: D.
        bandwidth: sigma of W_ij ~ N(0, 1 / sigma^2).
    """

    name = "mmd_unshared_features"
    unit = "squared distance"
    bounds = (0.0, math.inf)
    direction = None

    def __init__(self, context: Context, features: int = 1000, bandwidth: float = 1.0) -> None:
        super().__init__(context)
        self.sigma = float(positive("metric.mmd_unshared_features.bandwidth", bandwidth))
        self.features = whole_number("metric.mmd_unshared_features.features", features)
        self.rows = self.probabilities.reshape(-1, self.space.levels)

    def result(self) -> dict[str, Tensor]:
        values = []
        maps = zip(*self._draws_map, strict=True)
        for frequencies, own, target in zip(self.visits.frequencies(), maps, self._target_means, strict=True):
            draws = mean_features(frequencies.reshape(self.rows.shape), *own)
            values.append((draws - target).square().sum())
        return {self.name: torch.stack(values)}

    @cached_property
    def _draws_map(self) -> tuple[Tensor, Tensor]:
        return self._feature_maps("draws")

    @cached_property
    def _target_means(self) -> list[Tensor]:
        """Mean features of the target's rows by seed, which no draw changes."""
        return [mean_features(self.rows, *own) for own in zip(*self._feature_maps("target"), strict=True)]

    def _feature_maps(self, side: str) -> tuple[Tensor, Tensor]:
        """W ``(seeds, D, levels)`` and b ``(seeds, D)``: the same at every call."""
        streams = self.context.streams(f"{self.name}/{side}")
        batch = (self.context.seeds, self.features)
        frequency = streams.normal(batch, self.rows.shape[-1:], torch.float64) / self.sigma
        phase = 2 * math.pi * streams.uniform(batch, (), torch.float64)
        return frequency.to(self.rows.device), phase.to(self.rows.device)


def mean_features(rows: Tensor, frequency: Tensor, phase: Tensor) -> Tensor:
    """Mean of sqrt(2 / D) cos(W r + b) over the `rows` r: ``(rows, levels)`` to ``(D,)``."""
    total = torch.zeros_like(phase)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        total += torch.cos(rows[start : start + ROWS_AT_ONCE] @ frequency.T + phase).sum(0)
    return math.sqrt(2 / len(phase)) * total / len(rows)
