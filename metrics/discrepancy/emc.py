"""Entropic mode coverage: the entropy of the mean responsibilities, H(E_x p(mode | x)) / log M.

1 if all M modes are covered evenly, 0 if all draws are in one mode.
"""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_modes
from metrics.statistics.mode_occupancy import entropy, mode_occupancy


class EMC(Metric):
    """Entropy of the draws' mean responsibilities in units of log M, in [0, 1].

    The quantity that the PT-DLP paper describes in words; its printed formula is `emc_per_sample`.
    """

    name = "emc"
    unit = "share of log M"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.log_modes = math.log(len(require_modes(self.name, context, minimum=2).modes))
        self.occupancy = mode_occupancy(context)

    def result(self) -> dict[str, Tensor]:
        return {self.name: (entropy(self.occupancy.mean()) / self.log_modes).clamp_(0.0, 1.0)}
