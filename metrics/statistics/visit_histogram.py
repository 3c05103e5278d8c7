"""Visit counts of all states of an enumerable space, and the metrics that are functions of them."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_enumeration
from metrics.statistics.sums import Sums
from samplers.kernel import Info
from targets.spaces import Discrete, Space


class VisitHistogram(Sums):
    """Counts of visits, ``(seeds, size)``, int64, updated in place.

    If chains move between temperatures, only states at the cold level are counted.

    Args:
        space: the states; those of the target by default.

    Raises:
        ValueError: if the space is not discrete.
    """

    def __init__(self, context: Context, space: Space | None = None) -> None:
        super().__init__(context)
        space = context.target.space if space is None else space
        if not isinstance(space, Discrete):
            raise ValueError(f"a visit histogram needs a discrete space, not {space}")
        self.space = space
        self.counts = self.zeros("counts", context.seeds, space.size, dtype=torch.int64)
        self._first_cell = torch.arange(context.seeds, device=context.device).unsqueeze(-1) * space.size
        self._ones: Tensor | None = None

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        index = self.space.index(theta)
        cells = (index if len(index) == 1 else index + self._first_cell).flatten()
        if info.level is not None:
            counted = info.level.eq(0).flatten().long()
        else:
            counted = self._ones = torch.ones_like(cells) if self._ones is None else self._ones
        self.counts.view(-1).scatter_add_(0, cells, counted)
        self.steps += 1

    @property
    def draws(self) -> Tensor:
        """Number of draws N of each seed, ``(seeds, 1)``, int64."""
        return self.counts.sum(-1, keepdim=True)

    def frequencies(self) -> Tensor:
        """Relative visit frequencies, ``(seeds, size)``, float64; NaN for a seed without draws."""
        return self.counts.double() / self.draws


class FrequencyMetric(Metric):
    """A function of the visit frequencies of a target whose states can be listed.

    If chains move between temperatures, of their visits at the cold level.

    Attributes:
        space: the target's space.
        probabilities: exact probabilities of its states, ``(size,)``, float64.
        visits: the visit histogram.

    Raises:
        UnsupportedMetric: if the target's states cannot be listed.
    """

    supports_levels = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.space, self.probabilities = require_enumeration(self.name, context)
        self.visits = context.statistic(VisitHistogram)

    def gaps(self) -> Tensor:
        """Visit frequencies less probabilities, ``(seeds, size)``."""
        return self.visits.frequencies() - self.probabilities
