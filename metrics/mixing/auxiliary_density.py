"""The distribution of the auxiliary variable of an entropic sampler (EDLP, appendix A.1, Figure 4)."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from metrics.mixing.auxiliary_mixture import auxiliary_mixture
from metrics.statistics.sums import Sums
from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.kernel import Info
from samplers.proposals.entropic_langevin import THETA_A
from targets.checks import is_number, whole_number


class AuxiliaryCounts(Sums):
    """Counts of all coordinates of theta_a, ``(seeds, bins + 2)``, int64: below the bins, in each, above.

    Args:
        low, high: ends of the bins.
        bins: their number.
    """

    def __init__(self, context: Context, low: float, high: float, bins: int) -> None:
        super().__init__(context)
        self.edges = torch.from_numpy(np.linspace(low, high, bins + 1)).to(context.device)
        self.counts = self.zeros("counts", context.seeds, bins + 2, dtype=torch.int64)
        self._first_cell = torch.arange(context.seeds, device=context.device).unsqueeze(-1) * (bins + 2)
        self._one = torch.ones(1, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        # What is no number, as of a chain that diverged, counts as above.
        cells = torch.bucketize(info.aux[THETA_A].flatten(1).double(), self.edges, right=True)
        cells = cells.add_(self._first_cell).flatten()
        self.counts.view(-1).scatter_add_(0, cells, self._one.expand(cells.shape))
        self.steps += 1


class AuxiliaryDensity(Metric):
    """Shares of theta_a in even bins, all its coordinates pooled, and how far they are from the exact ones.

    Values, one per seed:
        auxiliary_bin_0 .. auxiliary_bin_N: the share in each bin; the density is that over the bin's width.
        auxiliary_below, auxiliary_above: the shares outside.
        auxiliary_gap: total variation, in bins and outside, between the shares and the joint distribution,
            where that is known: for targets of at most 65,536 states that can be listed.

    Source: EDLP, appendix A.1, Figure 4.

    Args:
        low, high: ends of the bins, in state units.
        bins: their number.

    Raises:
        UnsupportedMetric: if the kernel has no auxiliary variable, or is tempered.
    """

    name = "auxiliary_density"
    unit = "probability"
    bounds = (0.0, 1.0)
    direction = "min"

    def __init__(self, context: Context, low: float = -4.0, high: float = 5.0, bins: int = 180) -> None:
        super().__init__(context)
        whole_number("metric.auxiliary_density.bins", bins)
        if not (is_number(low) and is_number(high) and -math.inf < low < high < math.inf):
            raise ValueError(
                "metric.auxiliary_density.low must be a number below high, "
                f"which is {high!r}, {low!r} was given"
            )
        kernel = context.kernel
        if THETA_A not in kernel.persistent_aux:
            raise UnsupportedMetric(f"{self.name} needs a sampler with an auxiliary variable, such as edmala")
        if not isinstance(kernel, EntropicKernel):
            raise UnsupportedMetric(
                f"{self.name} needs an entropic sampler without tempering, such as edmala; "
                f"{type(kernel).__name__} is none"
            )
        self.counted = context.statistic(AuxiliaryCounts, low=float(low), high=float(high), bins=bins)
        mixture = auxiliary_mixture(context.target, kernel.eta)
        self.exact = None if mixture is None else mixture.shares(self.counted.edges.cpu()).to(context.device)

    def result(self) -> dict[str, Tensor]:
        counts = self.counted.counts
        shares = counts.double() / counts.sum(-1, keepdim=True)
        inner = shares[:, 1:-1]
        found = {f"auxiliary_bin_{number}": share for number, share in enumerate(inner.unbind(-1))}
        found |= {"auxiliary_below": shares[:, 0], "auxiliary_above": shares[:, -1]}
        if self.exact is not None:
            gaps = (shares - self.exact).abs_()
            found["auxiliary_gap"] = by_seed(lambda row: row.sum() / 2, gaps)
        return found
