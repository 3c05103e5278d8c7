"""The printed formula of entropic mode coverage: the mean of per-sample entropies.

E_x H(p(mode | x)) / log M (PT-DLP v2, F.1). It measures how ambiguous the mode of a single draw is, not
how many modes the draws cover: a chain that stays at one point between the modes scores 1, and a chain that
visits all well-separated modes evenly scores 0. Hence it has no direction. `emc` measures coverage.
"""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_modes
from metrics.statistics.mode_occupancy import mode_occupancy


class EMCPerSample(Metric):
    """Mean entropy of the draws' responsibilities in units of log M, in [0, 1]."""

    name = "emc_per_sample"
    unit = "share of log M"
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.log_modes = math.log(len(require_modes(self.name, context, minimum=2).modes))
        self.occupancy = mode_occupancy(context)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.occupancy.mean_entropy() / self.log_modes}
