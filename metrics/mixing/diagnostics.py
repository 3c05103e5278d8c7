"""Effective sample size and R-hat over all chains of a seed (Vehtari et al. 2021).

Computed from thinned series (`metrics.statistics.thinned_series`), so an effective sample size is limited by
the number of stored values (`Context.series_steps`). It is NaN where chains go to and fro between the stored
values (`ChainSeries.to_and_fro`), which would look frozen. R-hat is that of the stored values even there.

A high effective sample size alone does not prove mixing: a chain stuck in one mode also has one. Compare
`rhat_mode`. R-hat is 1 if the chains of a seed agree; values above 1.01 show that they do not.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.mixing.geyer import geyer_sample_size
from metrics.mixing.ranked_chains import RankedChains, chains_by_seed, halves
from metrics.requirements import require_modes
from metrics.statistics.order_parameter_series import OrderParameterSeries
from metrics.statistics.thinned_series import ChainSeries, LogProbSeries, ModeSeries

FEWEST_DRAWS = 4


def effective_sample_size(series: NDArray[Any] | RankedChains) -> float:
    """Bulk effective sample size of a series ``(chains, draws)``.

    0 if every chain is constant, whether or not they agree, or moves in its middle draw alone, which is in
    neither half; 0 also for fewer than 4 draws or if a value is NaN, where the estimate is undefined.
    """
    chains = series if isinstance(series, RankedChains) else RankedChains(series)
    values = chains.series
    stuck = _constant(np.hstack(halves(values)))
    if values.shape[1] < FEWEST_DRAWS or _has_nan(values) or stuck:
        return 0.0
    # Of two values the ranks are an affine function, so rank normalisation does not change the estimate.
    return geyer_sample_size(
        np.concatenate(halves(values == values.max())) if _two_valued(values) else chains.scores()
    )


def potential_scale_reduction(series: NDArray[Any] | RankedChains) -> float:
    """Rank-normalised, split and folded R-hat of a series ``(chains, draws)``; one chain is split in two.

    Infinite if every half of every chain is constant, whether the chains are stuck at different values or
    never moved. Infinite also for fewer than 4 draws a chain, 8 of a single one, or if a value is NaN.
    """
    chains = series if isinstance(series, RankedChains) else RankedChains(series)
    if len(chains.series) == 1:
        chains = RankedChains(np.concatenate(halves(chains.series)))
    values = chains.series
    if values.shape[1] < FEWEST_DRAWS or _has_nan(values) or all(map(_constant, halves(values))):
        return float("inf")
    if _two_valued(values):  # the rank-normalised and the folded form both equal the split form
        return _gelman_rubin(np.concatenate(halves(values)))
    return max(_gelman_rubin(chains.scores()), _gelman_rubin(chains.folded_scores()))


def _gelman_rubin(chains: NDArray[Any]) -> float:
    """Root of the variance of the pooled draws, estimated, over that within `chains` ``(chains, draws)``."""
    values = np.asarray(chains, dtype=np.float64)
    draws = values.shape[1]
    between = draws * values.mean(1).var(ddof=1)
    within = values.var(1, ddof=1).mean()
    with np.errstate(all="ignore"):
        return float(np.sqrt((between / within + draws - 1) / draws))


def _has_nan(series: NDArray[Any]) -> bool:
    return series.dtype.kind == "f" and bool(np.isnan(series).any())


def _constant(series: NDArray[Any]) -> bool:
    """Whether no chain moves."""
    return bool((series == series[:, :1]).all())


def _two_valued(series: NDArray[Any]) -> bool:
    if series.dtype == np.bool_:
        return True
    low, high = series.min(), series.max()
    return bool(((series == low) | (series == high)).all())


class _Diagnostic(Metric):
    """A number of each seed's series ``(chains, draws)`` of U(theta)."""

    statistic: ClassVar[type[ChainSeries]] = LogProbSeries
    counts_draws: ClassVar[bool] = False
    """Whether the number is not known of chains that go to and fro between the stored steps."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(self.statistic)

    @abstractmethod
    def measure(self, chains: RankedChains) -> float:
        """The number of one seed."""

    def result(self) -> dict[str, Tensor]:
        values = [self.measure(chains) for chains in self.series.made(chains_by_seed)]
        found = torch.tensor(values, dtype=torch.float64, device=self.series.rows.device)
        return {self.name: found.masked_fill(self.series.to_and_fro & self.counts_draws, math.nan)}


class _ModeDiagnostic(_Diagnostic):
    """The same of the labels of the modes."""

    statistic = ModeSeries

    def __init__(self, context: Context) -> None:
        self.modes = range(len(require_modes(self.name, context, minimum=2).modes))
        super().__init__(context)


class ESS(_Diagnostic):
    """Bulk effective sample size of U(theta), over all chains of a seed.

    Of long runs 2,048 steps at most are kept, 131,072 values a seed: more independent draws are not counted.
    NaN where steps were left out and the others would look frozen: successive ones have a correlation below
    -0.1, or the chains turn round between two kept steps (`ChainSeries.to_and_fro`, which says what it does
    not see). ``task.series`` (in Python `Context.series_steps`) has more of them kept, at one evaluation of U
    each.
    """

    name = "ess"
    unit = "draws"
    bounds = (0.0, math.inf)
    direction = "max"
    counts_draws = True

    def measure(self, chains: RankedChains) -> float:
        return effective_sample_size(chains)


class ESSMagnetisation(ESS):
    """Bulk effective sample size of the order parameter, over all chains of a seed.

    In an Ising model that is the signed magnetisation, which mixes only where its sign changes. Of long runs
    as few steps are kept as for `ESS`.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "ess_magnetisation"
    statistic = OrderParameterSeries


class ESSMode(_ModeDiagnostic):
    """Effective sample size of the indicator of a mode, minimum over modes; 0 if a mode was never visited.

    NaN as `ESS` is, by the correlation of the indicators.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "ess_mode"
    unit = "draws"
    bounds = (0.0, math.inf)
    direction = "max"
    counts_draws = True

    def measure(self, chains: RankedChains) -> float:
        labels = [chains.series == mode for mode in self.modes]
        return 0.0 if any(map(_constant, labels)) else min(map(effective_sample_size, labels))


class RHat(_Diagnostic):
    """R-hat (rank-normalised, split and folded) of U(theta), over all chains of a seed."""

    name = "rhat"
    unit = "ratio"
    bounds = (0.0, math.inf)
    direction = "min"

    def measure(self, chains: RankedChains) -> float:
        return potential_scale_reduction(chains)


class RHatMagnetisation(RHat):
    """R-hat (rank-normalised, split and folded) of the order parameter, over all chains of a seed.

    In an Ising model at low temperature it is large until chains change the sign of the magnetisation, which
    that of U does not show.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "rhat_magnetisation"
    statistic = OrderParameterSeries


class RHatMode(_ModeDiagnostic):
    """R-hat of the indicator of a mode, maximum over modes; infinite if a mode was never visited.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "rhat_mode"
    unit = "ratio"
    bounds = (0.0, math.inf)
    direction = "min"

    def measure(self, chains: RankedChains) -> float:
        labels = [chains.series == mode for mode in self.modes]
        stuck = any(all(map(_constant, halves(label))) for label in labels)
        return math.inf if stuck else max(map(potential_scale_reduction, labels))
