"""Norm of the mean of the draws, and the steps until it is below a threshold (STMH, Figure 1)."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from samplers.hyperparameters import positive
from samplers.kernel import Info
from targets.checks import whole_number
from targets.spaces import Real
from targets.synthetic.gaussian_mixture import GaussianMixture

ROUNDING = 1e-6
"""Distance of a mean from 0, in state units, that is taken for 0."""


class MeanNorm(Metric):
    """The norm of the mean of the draws along the run, for targets whose mean is 0.

    STMH reports |mu_hat| without saying which mean it is (settings F), so both readings are given: the mean
    over chains of each chain's mean of its draws so far ("average the empirical means over all runs",
    section 4), and the mean over chains of their states at one step. If chains move between temperatures,
    only states at the cold level are counted (`Info.level`), and chains without any are left out.

    Values, one per seed; NaN where no state has been counted yet:
        mean_norm: norm of the mean of the chains' means.
        mean_norm_log2: ln(1 / mean_norm) squared, the axis of Figure 1, right; NaN where mean_norm is above
            1, since the square would increase with mean_norm there.
        mean_norm_noise: root mean square of mean_norm if the true mean were 0: the standard deviation of the
            chains' means over the root of their number. A mean_norm of this size is consistent with 0.
        mean_norm_now: norm of the mean of the chains' current states.
        steps_per_draw: steps so far, times the variance of the chains' means, over the variance of their
            states: the number of steps per effective draw, once the start has no more influence. It needs no
            threshold and varies less than the numbers of steps below.
        steps_to_threshold: first step from which on mean_norm has stayed below `threshold`; NaN if it is not
            below it now.
        steps_to_threshold_first: first step at which it was below, whether or not it stayed; NaN if none.
            Steps of the burn-in are not looked at, here and above.
        steps_to_threshold_now: as steps_to_threshold, for mean_norm_now.

    Args:
        threshold: upper limit for |mu_hat|, in state units; 0.1 in the paper.
        every: steps between comparisons with the threshold; the last step so far is compared, too, and the
            numbers of steps are those of comparisons.

    Raises:
        UnsupportedMetric: if the target is not on the reals, or its mean is known and not 0.
    """

    name = "mean_norm"
    unit = "state units"
    bounds = (0.0, math.inf)
    direction = "min"
    supports_levels = True
    saved = ("steps", "last", "totals", "present", "first", "since")

    def __init__(self, context: Context, threshold: float = 0.1, every: int = 10) -> None:
        super().__init__(context)
        if not isinstance(context.target.space, Real):
            raise UnsupportedMetric(f"{self.name} needs a target on the reals; {context.target.space} is not")
        mean = context.target.mean() if isinstance(context.target, GaussianMixture) else torch.zeros(1)
        if (far := float(mean.norm())) > ROUNDING:
            raise UnsupportedMetric(
                f"{self.name} needs a target whose mean is 0; that of this one is {far:.3g} away"
            )
        positive("metric.mean_norm.threshold", threshold)
        self.threshold, self.every = threshold, whole_number("metric.mean_norm.every", every)
        shape = (context.seeds, context.chains, context.target.space.d + 2)
        # Columns: sum of a chain's states (d), sum of their squared lengths, number of states.
        self.totals = torch.zeros(shape, dtype=torch.float64, device=context.device)
        self.present = torch.zeros_like(self.totals)
        unset = torch.full((2, context.seeds), torch.nan, dtype=torch.float64, device=context.device)
        self.first, self.since = unset, unset.clone()
        self.steps = self.last = 0

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        exact = theta.double()
        length = exact.square().sum(-1, keepdim=True)
        states = torch.cat([exact, length, torch.ones_like(length)], -1)
        if info.level is not None:
            states = states.masked_fill((info.level != 0).unsqueeze(-1), 0.0)
        self.totals.add_(states)
        self.present = states
        self.steps += 1
        self.last = step
        if step % self.every == 0:
            self.first, self.since = self._crossings()

    def _crossings(self) -> tuple[Tensor, Tensor]:
        """`first` and `since` with a comparison at the last step."""
        below = torch.stack([_norm(self.totals), _norm(self.present)]) < self.threshold
        first = torch.where(below & self.first.isnan(), float(self.last), self.first)
        since = torch.where(below & self.since.isnan(), float(self.last), self.since)
        return first, since.masked_fill(~below, torch.nan)

    def result(self) -> dict[str, Tensor]:
        norm = _norm(self.totals)
        first, since = self._crossings()
        return {
            self.name: norm,
            "mean_norm_log2": norm.log().square().masked_fill(norm > 1.0, torch.nan),
            "mean_norm_noise": by_seed(lambda part: _scatter(part).sqrt(), self.totals),
            "mean_norm_now": _norm(self.present),
            "steps_per_draw": by_seed(lambda part: self.steps * _inefficiency(part), self.totals),
            "steps_to_threshold": since[0],
            "steps_to_threshold_first": first[0],
            "steps_to_threshold_now": since[1],
        }

    def merge(self, other: Self) -> None:
        """Not possible.

        Raises:
            ValueError: always, since the step of a crossing depends on the running mean from the start.
        """
        raise ValueError(f"{self.name} follows a running mean and cannot be merged from parts of a run")


def _means(part: Tensor) -> tuple[Tensor, Tensor]:
    """Each chain's mean ``(chains, d)``, 0 without states, and whether there are any, ``(chains, 1)``."""
    counts = part[:, -1:]
    return part[:, :-2] / counts.clamp(min=1.0), (counts > 0).double()


def _norm(rows: Tensor) -> Tensor:
    """Norm of the mean of the chains' means, ``(seeds,)``, of the totals ``(seeds, chains, d + 2)``."""

    def norm(part: Tensor) -> Tensor:
        means, seen = _means(part)
        return (means.sum(0) / seen.sum()).square().sum().sqrt()

    return by_seed(norm, rows)


def _scatter(part: Tensor) -> Tensor:
    """Variance, summed over coordinates, of the mean of the chains' means; NaN for fewer than two chains."""
    means, seen = _means(part)
    number = seen.sum()
    centred = (means - means.sum(0) / number) * seen
    return centred.square().sum() / (number - 1.0) / number


def _inefficiency(part: Tensor) -> Tensor:
    """Variance of a chain's mean over that of a state, both summed over coordinates."""
    states = part.sum(0) / part[:, -1].sum()
    variance = states[-2] - states[:-2].square().sum()
    return _scatter(part) * (part[:, -1] > 0).sum() / variance
