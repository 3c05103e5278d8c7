"""Partition functions of a ladder, one level after the other: Algorithm 2 of STMH, as it must be meant.

Printed, the loop runs to L and so to a level that does not exist, and every round walks over all L levels,
most of which have no estimate yet. Here round l walks over the l hottest levels and gives Z of the next
colder one:

    Z_{l+1} = Z_l / s * sum_j exp((beta_{l+1} - beta_l) U(x_j)),   x_j the states at level l.

The paper restarts for each of the s states; here many chains go on in parallel, every visit to level l
counts, and the chains, which are independent given the estimates so far, say how far off the mean is. A round
counts nothing until they have forgotten where they stood (`samplers.tempering.simulated.burn_in`): what is
left of the start is an error that all chains share, which no interval sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tempering.simulated.burn_in import burn_in
from samplers.tempering.simulated.simulated_tempering import LEVEL, SimulatedTempering
from targets.checks import whole_number, within

FEWEST_STEPS = 20
"""Steps of a pilot of small effort."""

FEWEST = 2.0
"""Effective draws below which an estimate is refused."""

CREDIBLE = 50.0
"""Effective draws below which no interval is stated: weights so uneven are too often all on one side."""


@dataclass(frozen=True)
class PartitionPilot:
    """Size of a full pilot: `chains` in parallel, and `steps` of each for every level on which they walk.

    Before they count, the chains of ``inductive`` walk a quarter as many steps and at least `burn_in`
    measured autocorrelation times, of which one is about two relaxation times.
    """

    chains: int = 256
    steps: int = 200
    burn_in: float = 5.0

    def __post_init__(self) -> None:
        whole_number("pilot.chains", self.chains, 2)
        whole_number("pilot.steps", self.steps, 8)
        within("pilot.burn_in", self.burn_in, 0.0, 100.0)

    def steps_of(self, run: PilotRun[Any]) -> int:
        """The `steps`, as the effort of `run` allows."""
        return run.sized(self.steps, min(self.steps, FEWEST_STEPS))


@dataclass(frozen=True)
class PartitionFunctions:
    """What a pilot found, of each level from the cold one; log Z of the hot level is set to 0.

    Attributes:
        log_partition: log Z_i, ``L`` numbers.
        standard_error: of log Z_i, in nats.
        effective: effective sample size: how many independent draws of level i the estimate of the step to
            it is worth; infinite for the hot level, of which nothing is estimated.
        chains: from which the standard errors come.
        evaluations: of the target, per chain.
        burn_in: steps before those that counted, of each round from the cold level on; empty where there are
            no rounds.
        autocorrelation_time: in steps, that the burn-in of each round went by; infinite where it was not to
            be found in a burn-in that did not have to be so many of them.
    """

    log_partition: list[float]
    standard_error: list[float]
    effective: list[float]
    chains: int
    evaluations: int
    burn_in: tuple[int, ...] = ()
    autocorrelation_time: tuple[float, ...] = ()

    def interval(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """A t interval of each log Z_i.

        The errors of the rounds are added as if they were independent, which they are but for the states
        from which a round sets out.
        """
        from scipy.stats import t as student  # takes half a second, and only a pilot needs it

        width = float(student.ppf(0.5 + confidence / 2, self.chains - 1))
        pairs = zip(self.log_partition, self.standard_error, strict=True)
        return [(value - width * error, value + width * error) for value, error in pairs]

    def report(self) -> dict[str, Any]:
        """What a reader of the run may want to know, fit for JSON.

        An interval is stated only after burn-ins: it does not see what is left of where chains started. Where
        a round was too short to measure an autocorrelation time, which stands as None, there is none either,
        nor where the estimate of a level rests on fewer than `CREDIBLE` effective draws.
        """
        times = [time if math.isfinite(time) else None for time in self.autocorrelation_time]
        rounds = {"partition_burn_in": list(self.burn_in), "partition_autocorrelation_time": times}
        if None not in times and min(self.effective[:-1], default=math.inf) >= CREDIBLE:
            rounds |= {"log_partition_interval": [list(pair) for pair in self.interval()]}
        return {
            "partition_effective_sample_size": self.effective[:-1],
            **(rounds if self.burn_in else {}),
        }


@dataclass(frozen=True)
class Ratio:
    """The log of a mean of weights, its standard error, and the effective number of draws behind it."""

    log_mean: float
    standard_error: float
    effective: float


def mean_of_weights(log_weights: Tensor, counted: Tensor) -> Ratio:
    """The mean of exp(`log_weights`) over the states `counted`, both ``(steps, chains)``.

    It is a ratio of two sums over independent chains, so its variance is that of the chains' residuals
    (the delta method), which sees the autocorrelation within chains. The number of independent draws with
    that variance, over 1 + the squared coefficient of variation of the weights (Kish), is the effective
    sample size. All of it is NaN where nothing was counted.
    """
    kept = torch.where(counted, log_weights.double(), -torch.inf)
    peak = kept.max()
    weights = (kept - peak).exp().nan_to_num_(0.0) if bool(peak.isfinite()) else kept * torch.nan
    totals, visits = weights.sum(0), counted.double().sum(0)
    mean = totals.sum() / visits.sum()
    chains = len(visits)
    residuals = (totals - mean * visits).square().sum() / visits.sum() ** 2
    variance = residuals * chains / (chains - 1) / mean**2
    spread = ((weights / mean - 1).square() * counted).sum() / visits.sum()
    drawn = torch.where(spread < variance * visits.sum(), spread / variance, visits.sum())
    values = (peak + mean.log(), variance.sqrt(), drawn / (1 + spread))
    return Ratio(*(float(value) for value in values))


def check_effective(ratio: Ratio, betas: Sequence[float], level: int) -> None:
    """Refuses an estimate that rests on next to nothing.

    Raises:
        ValueError: if it is not finite, or its effective sample size below 2.
    """
    found = (ratio.log_mean, ratio.standard_error, ratio.effective)
    if all(map(math.isfinite, found)) and ratio.effective >= FEWEST:
        return
    raise ValueError(
        f"the partition function of level {level} (beta={betas[level]:.4g}) rests on an effective sample of "
        f"{ratio.effective:.1f} draws, at least {FEWEST:g} are needed: the levels are too far apart or the "
        "pilot is too short"
    )


def inductive(
    run: PilotRun[Any], chain: SimulatedTempering, pilot: PartitionPilot
) -> Steps[PartitionFunctions]:
    """Algorithm 2: log Z of each level from the states at the next hotter one.

    Args:
        chain: its log Z_i are not read.

    Raises:
        ValueError: if an estimate is degenerate (`check_effective`), or chains do not forget their start.
    """
    target, levels, betas = run.target, chain.levels, chain.betas
    one = torch.ones((), dtype=betas.dtype, device=betas.device)
    log_partition = torch.zeros(levels, dtype=torch.float64, device=betas.device)
    variance, effective, burnt = [0.0] * levels, [math.inf] * levels, []
    evaluations, steps = 0, pilot.steps_of(run)
    state: State | None = None
    for known in range(1, levels):
        part = chain.weighted(log_partition).hottest(known)
        if state is None:
            theta = target.initial((1, pilot.chains), run.generator)
            state = part.start(target, theta, one, run.generator)
        else:
            # What was level 0 has a colder one below it now.
            state = replace(state, aux={**state.aux, LEVEL: state.aux[LEVEL] + 1})
        counted = steps * known
        burnt.append((yield from burn_in(run, part, state, first=counted // 4, times=pilot.burn_in)))
        seen = yield from _counted(run, part, burnt[-1].state, counted)
        state, evaluations = seen["state"], evaluations + burnt[-1].evaluations + seen["evaluations"]
        below = levels - known - 1
        gap = betas[below] - betas[below + 1]
        ratio = mean_of_weights(gap * torch.stack(seen["energies"]), torch.stack(seen["visits"]))
        check_effective(ratio, betas.tolist(), below)
        log_partition[below] = log_partition[below + 1] + ratio.log_mean
        variance[below] = variance[below + 1] + ratio.standard_error**2
        effective[below] = ratio.effective
    errors = [math.sqrt(value) for value in variance]
    return PartitionFunctions(
        log_partition.tolist(),
        errors,
        effective,
        pilot.chains,
        evaluations,
        burn_in=tuple(each.steps for each in reversed(burnt)),
        autocorrelation_time=tuple(each.autocorrelation_time for each in reversed(burnt)),
    )


def _counted(run: PilotRun[Any], part: SimulatedTempering, state: State, steps: int) -> Steps[Values]:
    """U after each step of each chain, and whether it is at the coldest level of `part` there."""
    one = torch.ones((), dtype=part.betas.dtype, device=part.betas.device)

    def step(values: Values) -> None:
        values["state"], info = part.step(run.target, values["state"], one, run.generator)
        values["evaluations"] += info.evaluations
        values["energies"].append(values["state"].log_prob.squeeze(0))
        values["visits"].append(values["state"].aux[LEVEL].squeeze(0) == 0)

    begun: Values = {"state": state, "energies": [], "visits": [], "evaluations": 0}
    return (yield from run.walk(lambda: begun, step, steps))
