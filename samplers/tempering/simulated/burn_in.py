"""Burn-in by measured autocorrelation: how long chains walk until they have forgotten where they set out.

A fixed number of steps is too few for one kernel and a waste for another. Here the walk grows by half as
often as it must, until all of it is `times` autocorrelation times long, as its second half measures them.
The functions whose autocorrelation counts are U, the level, and one fixed random direction of the states,
which sees what U does not, such as in which of two equal modes a chain stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tempering.simulated.simulated_tempering import LEVEL, SimulatedTempering
from targets.randomness import normal

WINDOW = 3.0
"""Autocorrelation times over which correlations are summed (Sokal 1997); what is left out is below 1 %."""

ROUNDING = 16.0
"""Spacings of floating-point numbers within which a sum of many terms is taken for constant."""

LONGEST = 10_000, 100
"""Steps that a burn-in may take at most, or times its first stretch, whichever is more."""


@dataclass(frozen=True)
class BurnIn:
    """A burn-in that was long enough.

    Attributes:
        state: where the chains stand after it.
        steps: of each chain.
        autocorrelation_time: in steps, the largest of the functions watched; infinite where the walk was too
            short to show it.
        evaluations: of the target, per chain.
    """

    state: State
    steps: int
    autocorrelation_time: float
    evaluations: int


def estimated_autocorrelation_time(series: Tensor) -> float:
    """1 + 2 sum over t >= 1 of rho(t), in steps, from many chains that are correlated within alone.

    rho(t) is the correlation at lag t about the mean over all steps and chains, so that chains that differ
    and stay different count as correlated. The sum ends at the first lag that is `WINDOW` times the sum so
    far.

    Args:
        series: the values of a function of the state, ``(steps, chains)``.

    Returns:
        Infinity where no lag is long enough, NaN for a constant.
    """
    spread, spacing = (
        float(series.max() - series.min()),
        torch.finfo(series.dtype).eps * float(series.abs().max()),
    )
    if math.isfinite(spread) and spread <= ROUNDING * spacing:
        return math.nan
    values = series.double()
    centred = values - values.mean()
    variance = float(centred.square().mean())
    steps = len(values)
    spectrum = torch.fft.rfft(centred, n=2 * steps, dim=0).abs().square()
    products = torch.fft.irfft(spectrum, dim=0)[:steps].mean(1)
    pairs = torch.arange(steps, 0, -1, dtype=torch.float64, device=values.device)
    correlation = products / pairs / variance
    times = 2.0 * correlation.cumsum(0) - 1.0
    lags = torch.arange(steps, dtype=torch.float64, device=values.device)
    enough = (lags >= WINDOW * times).nonzero()
    return float(times[enough[0, 0]].clamp(min=1.0)) if len(enough) else math.inf


def burn_in(
    run: PilotRun[Any], chain: SimulatedTempering, state: State, *, first: int, times: float
) -> Steps[BurnIn]:
    """Walks from `state` until the chains have forgotten it.

    Args:
        state: of many chains ``(1, chains)``.
        first: steps after which it is looked at first.
        times: how many autocorrelation times the walk must be long, one of which is about two relaxation
            times; with 0 it ends after `first`.

    Raises:
        ValueError: if `LONGEST` was not enough, or the log density is not finite.
    """
    one = torch.ones((), dtype=chain.betas.dtype, device=chain.betas.device)
    longest = max(LONGEST[0], LONGEST[1] * first)

    def begin() -> Values:
        event = state.theta.shape[2:]
        direction = normal(run.generator, (1, 1), event, like=state.theta).flatten()
        counts = {"evaluations": 0, "until": max(first, 4), "slowest": math.inf, "needed": math.inf}
        return {"state": state, "direction": direction, "seen": [], **counts}

    def step(values: Values) -> bool:
        values["state"], info = chain.step(run.target, values["state"], one, run.generator)
        values["evaluations"] += info.evaluations
        here, seen = values["state"], values["seen"]
        place = here.theta.squeeze(0).flatten(1) @ values["direction"]
        seen.append(torch.stack([place, here.log_prob.squeeze(0), here.aux[LEVEL].squeeze(0).to(place)]))
        if len(seen) == (until := values["until"]):
            slowest = _slowest(torch.stack(seen[until // 2 :], 1))
            needed = times * slowest if times else 0.0
            later = min(until + until // 2, longest) if until < needed else until
            values |= {"slowest": slowest, "needed": needed, "until": later}
        return bool(len(seen) >= values["until"])

    values = yield from run.walk(begin, step, longest)
    taken, slowest = len(values["seen"]), values["slowest"]
    if taken < values["needed"]:
        raise ValueError(
            f"chains on the {chain.levels} hottest levels had not forgotten their start after {taken} "
            f"steps (autocorrelation time: {slowest:.0f} steps): the sampler is too slow for a pilot"
        )
    return BurnIn(values["state"], taken, slowest, values["evaluations"])


def _slowest(functions: Tensor) -> float:
    """The largest autocorrelation time of `functions` ``(3, steps, chains)``; infinity if no chain moved.

    A constant level or U is no sign of slowness: there may be one level, or one energy.

    Raises:
        ValueError: if a value is not finite.
    """
    if not bool(functions.isfinite().all()):
        raise ValueError("the target gave a log density that is NaN or infinite in the pilot")
    times = [estimated_autocorrelation_time(values) for values in functions]
    if math.isnan(times[0]):
        return math.inf
    return max(time for time in times if not math.isnan(time))
