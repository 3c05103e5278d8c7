"""The automatic tuning of ACS: its step sizes and balancing constants, from a pilot (Pynadath et al. 2024).

The five stages are those of the released code, as settings B.4 describes it, with three changes.

- It returned the last step size that it tried for the floor; here the best one found is returned, which is
  what it computes just before and then overwrites. Of equally good candidates the largest is taken, or a
  search that begins where nothing moves would never leave.
- Its initial steps, 5 and 0.05, belong to binary states, where the only move has squared length 1. Here a
  start is such that the penalty of a move is the same: 0.05 times the squared length of the shortest move
  and 5 times that of the longest, which on an ordinal coordinate is ``(levels - 1)^2``. The number of rounds
  grows with the logarithm of the ratio of the two, so that the searches can meet (`rounds_factor`).
- Balancing constants are estimated at up to 20 positions of the cycle and interpolated in between, since
  cycles here may have a thousand positions where the released ones have twenty.

Stage 4 is the schedule (`cosine_steps`). Each other stage is a walk of the pilot that goes on from the
chains' state, which all but the last return.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.randomness import Generator
from targets.spaces import Categorical, Discrete, Ordinal
from targets.target import Target

SMALL, BIG = 0.05, 5.0
"""First step sizes of the two searches on binary states."""

WARM_UP_STEPS = 50
CANDIDATES = 4
FLOOR_ROUNDS = 25
MAXIMUM_ROUNDS = 50
BALANCING_CANDIDATES = 10
BALANCING_KNOTS = 20


@dataclass(frozen=True)
class Aims:
    """What is tuned for: the acceptance rho*, the largest balancing constant beta_max, and zeta."""

    acceptance: float
    balancing_max: float
    zeta: float


@dataclass(frozen=True)
class Found:
    """Answer of a search: a step size, the acceptance seen there, where the chains are, evaluations spent.

    Attributes:
        tried: the smallest and the largest step size that the search was at.
    """

    step_size: float
    acceptance: float
    state: State
    evaluations: int
    tried: tuple[float, float]


def move_lengths(space: Discrete) -> tuple[float, float]:
    """Squared lengths of the shortest and of the longest move of one coordinate."""
    if isinstance(space, Categorical):
        return 2.0, 2.0
    if isinstance(space, Ordinal):
        return 1.0, float(space.levels - 1) ** 2
    return 1.0, 1.0


def rounds_factor(space: Discrete) -> float:
    """Rounds of a search, relative to binary states: the ratio of the logarithmic ranges of step sizes."""
    shortest, longest = move_lengths(space)
    return 1.0 + math.log(longest / shortest) / math.log(BIG / SMALL)


def warm_up(run: PilotRun[Any], space: Discrete, aims: Aims, chains: int) -> Steps[State]:
    """Stage 1: `WARM_UP_STEPS` steps of DULA from the target's own start.

    The step size is 5 times the squared length of the shortest move.
    """
    step_size = torch.tensor(BIG * move_lengths(space)[0], dtype=torch.float64)
    like = run.target.like()
    kernel = MetropolisHastings(LangevinProposal(step_size, aims.balancing_max).to(like), adjusted=False)
    beta = torch.ones((), dtype=like.dtype, device=like.device)

    def begin() -> Values:
        theta = run.target.initial((1, chains), run.generator)
        return {"state": kernel.init(run.target, theta, beta)}

    def step(values: Values) -> None:
        values["state"], _ = kernel.step(run.target, values["state"], beta, run.generator)

    values = yield from run.walk(begin, step, WARM_UP_STEPS)
    return cast(State, values["state"])


def try_steps(
    target: Target,
    state: State,
    step_sizes: Sequence[float],
    balancings: Sequence[float],
    generator: Generator,
) -> tuple[list[float], State]:
    """One Metropolis-Hastings step of all chains for each of n settings, from the same state.

    Returns:
        The mean acceptance of each, and the states ``(n, *batch, ...)`` that they lead to.
    """
    trailing = (1,) * state.log_prob.dim()
    settings = torch.tensor([step_sizes, balancings], dtype=state.theta.dtype, device=state.theta.device)
    step_size, balancing = settings.reshape(2, -1, *trailing)
    assert state.grad is not None
    n = len(step_sizes)
    same = State(
        state.theta.expand(n, *state.theta.shape),
        state.log_prob.expand(n, *state.log_prob.shape),
        state.grad.expand(n, *state.grad.shape),
    )
    kernel = MetropolisHastings(LangevinProposal(step_size, balancing))
    after, info = kernel.step(target, same, torch.ones_like(step_size), generator)
    return info.acceptance.flatten(start_dim=1).mean(-1, dtype=torch.float64).tolist(), after


def take(states: State, index: int) -> State:
    """The state at `index` of the leading axis."""
    assert states.grad is not None
    return State(states.theta[index], states.log_prob[index], states.grad[index])


def find_floor(run: PilotRun[Any], space: Discrete, state: State, aims: Aims) -> Steps[Found]:
    """Stage 2: the step size, going upwards, whose acceptance with balancing 1/2 comes nearest to rho*.

    Each round tries four candidates, equally spaced from alpha to alpha (1 + zeta |a - rho*|) with a the
    last acceptance (0 at first), and goes on from the nearest one (the larger of equals) and its states.
    """
    first = SMALL * move_lengths(space)[0]

    def begin() -> Values:
        return {"state": state, "at": [first, 0.0], "best": [-math.inf, first, 0.0]}

    def step(values: Values) -> None:
        step_size, acceptance = values["at"]
        growth = aims.zeta * abs(acceptance - aims.acceptance)
        tried = [step_size * (1.0 + growth * i / (CANDIDATES - 1)) for i in range(CANDIDATES)]
        seen, states = try_steps(run.target, values["state"], tried, [0.5] * CANDIDATES, run.generator)
        run.note("smallest step size", step_size=tried, balancing=0.5, acceptance=seen)
        # The larger of equals: while nothing moves, every candidate is accepted with probability 1.
        score, step_size, acceptance, index = max(
            (-abs(a - aims.acceptance), size, a, i)
            for i, (size, a) in enumerate(zip(tried, seen, strict=True))
        )
        values["state"], values["at"] = take(states, index), [step_size, acceptance]
        values["best"] = max(values["best"], [score, step_size, acceptance])

    values = yield from run.walk(begin, step, math.ceil(FLOOR_ROUNDS * rounds_factor(space)))
    _, step_size, acceptance = values["best"]
    tried = first, max(first, values["at"][0])
    return Found(step_size, acceptance, values["state"], CANDIDATES * values["steps"], tried)


def find_maximum(run: PilotRun[Any], space: Discrete, state: State, aims: Aims) -> Steps[Found]:
    """Stage 3: the first step size, going downwards, that is accepted as often as rho* with beta_max.

    Each round tries alpha and alpha (1 - zeta |a - rho*|) and goes on from the one accepted more often,
    until that acceptance a exceeds rho* - 0.01; the step size with the highest acceptance is returned.
    """
    first = BIG * move_lengths(space)[1]

    def begin() -> Values:
        return {"state": state, "at": [first, 0.0], "best": [-math.inf, first]}

    def step(values: Values) -> bool:
        step_size, acceptance = values["at"]
        tried = [step_size * (1.0 - aims.zeta * abs(acceptance - aims.acceptance)), step_size]
        seen, states = try_steps(run.target, values["state"], tried, [aims.balancing_max] * 2, run.generator)
        run.note("largest step size", step_size=tried, balancing=aims.balancing_max, acceptance=seen)
        index = seen.index(max(seen))
        values["state"], values["at"] = take(states, index), [tried[index], seen[index]]
        values["best"] = max(values["best"], [seen[index], tried[index]])
        return seen[index] > aims.acceptance - 0.01

    values = yield from run.walk(begin, step, math.ceil(MAXIMUM_ROUNDS * rounds_factor(space)))
    acceptance, step_size = values["best"]
    tried = min(first, values["at"][0]), first
    return Found(step_size, acceptance, values["state"], 2 * values["steps"], tried)


def find_balancings(
    run: PilotRun[Any], state: State, step_sizes: Sequence[float], aims: Aims
) -> Steps[tuple[list[float], int]]:
    """Stage 5: a balancing constant for each of `step_sizes` (decreasing), and the evaluations spent.

    At the knots, from the smallest step to the largest: first the best of 0.5, 0.55, 0.6, then the best of
    ten values from the last one, b, to min(beta_max, b + 0.25), best meaning the highest acceptance;
    once b reaches 0.9 the larger steps rise linearly to beta_max.
    """
    if not step_sizes:
        return [], 0
    count = min(BALANCING_KNOTS, len(step_sizes))
    knots = sorted({round(i * (len(step_sizes) - 1) / max(count - 1, 1)) for i in range(count)}, reverse=True)

    def begin() -> Values:
        return {"state": state, "found": [], "evaluations": 0}

    def step(values: Values) -> bool:
        found, knot = values["found"], knots[values["steps"]]
        if not found:
            tried = [min(b, aims.balancing_max) for b in (0.5, 0.55, 0.6)]
        else:
            width = min(aims.balancing_max, found[-1] + 0.25) - found[-1]
            tried = [found[-1] + width * i / (BALANCING_CANDIDATES - 1) for i in range(BALANCING_CANDIDATES)]
        sizes = [step_sizes[knot]] * len(tried)
        seen, states = try_steps(run.target, values["state"], sizes, tried, run.generator)
        run.note("balancing", step_size=sizes, balancing=tried, acceptance=seen)
        best = seen.index(max(seen))
        values["state"] = take(states, best)
        values["found"] = [*found, tried[best]]
        values["evaluations"] += len(tried)
        return tried[best] >= 0.9

    values = yield from run.walk(begin, step, len(knots))
    found = dict(zip(knots, values["found"], strict=False))
    # Only a search that stopped early has left the largest step without a value.
    found.setdefault(0, aims.balancing_max)
    at = sorted(found)
    chosen = np.interp(range(len(step_sizes)), at, [found[knot] for knot in at]).tolist()
    return chosen, values["evaluations"]


def planned_rounds(space: Discrete) -> int:
    """Steps of all stages, at most."""
    searches = sum(math.ceil(rounds * rounds_factor(space)) for rounds in (FLOOR_ROUNDS, MAXIMUM_ROUNDS))
    return WARM_UP_STEPS + searches + BALANCING_KNOTS
