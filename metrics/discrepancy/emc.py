"""Entropic mode coverage: of the mean responsibilities, and as the paper prints it.

In units of log M for a target with M modes.
"""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_modes
from metrics.statistics.mode_occupancy import entropy, mode_occupancy


class _ModeCoverage(Metric):
    """A metric in units of log M, for a target with at least two modes."""

    unit = "share of log M"
    bounds = (0.0, 1.0)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.log_modes = math.log(len(require_modes(self.name, context, minimum=2).modes))
        self.occupancy = mode_occupancy(context)


class EMC(_ModeCoverage):
    """Entropy of the draws' mean responsibilities, H(E_x p(mode | x)) / log M, in [0, 1].

    1 if all M modes are covered evenly, 0 if all draws are in one mode. The quantity that the PT-DLP paper
    describes in words; its printed formula is `emc_per_sample`.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "emc"
    direction = "max"

    def result(self) -> dict[str, Tensor]:
        return {self.name: (entropy(self.occupancy.mean()) / self.log_modes).clamp_(0.0, 1.0)}


class EMCPerSample(_ModeCoverage):
    """Mean entropy of the draws' responsibilities, E_x H(p(mode | x)) / log M (PT-DLP v2, F.1), in [0, 1].

    It measures how ambiguous the mode of a single draw is, not how many modes the draws cover: a chain that
    stays at one point between the modes scores 1, and a chain that visits all well-separated modes evenly
    scores 0. Hence it has no direction. `emc` measures coverage.
    """

    name = "emc_per_sample"

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.occupancy.mean_entropy() / self.log_modes}
