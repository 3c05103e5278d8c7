"""Binary draws at regular steps, one bit per pixel: the images that a sampler generates."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.statistics.bits import unpacked
from metrics.statistics.kept_draws import KeptDraws
from targets.spaces import Binary


class ThinnedDraws(Metric):
    """Has draws kept, and has no value itself; the arguments are those of `KeptDraws`.

    Memory grows with the number of draws: 5,000 images of 784 pixels take 490 kB.

    Raises:
        UnsupportedMetric: if the target is not binary.
    """

    name = "thinned_draws"
    unit = "bits"

    def __init__(self, context: Context, most: int, burn_in: int, steps: int) -> None:
        super().__init__(context)
        if not isinstance(context.target.space, Binary):
            raise UnsupportedMetric("thinned_draws keeps zeros and ones, the target has other states")
        self.pixels = context.target.space.d
        self.kept = context.statistic(KeptDraws, most=most, burn_in=burn_in, steps=steps)

    def images(self, place: int) -> Tensor:
        """The draws of a seed, one of all chains before the next: uint8 ``(draws * chains, pixels)``."""
        return unpacked(self.kept.rows[:, place].flatten(0, 1), self.pixels)

    def result(self) -> dict[str, Tensor]:
        return {}
