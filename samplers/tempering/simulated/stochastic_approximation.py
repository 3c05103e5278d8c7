"""Partition functions learned while a chain walks over all levels: Wang-Landau as stochastic approximation.

After every step log Z_i grows by gamma_t L w_i(theta), averaged over chains, where w_i(theta) is the
conditional probability of level i given theta. This is the update of Wang and Landau with the indicator of
the visited level replaced by its conditional expectation, and with gains that make it converge: constant
first, then falling as t^-0.8, at last as 1 / t (Tan 2017, where the gain L / t is shown to be the best
one). Then the estimates stand still for as long again, and

    Z_i = Z_i(learned) * mean of w_i(theta)    up to a factor that all levels share

gives the final ones. The cost grows with L, that of `inductive` with L^2.

No interval is stated: nothing tells whether the chains have forgotten where they started. In an Ising model
below its critical temperature log Z was more than 2 nats off, 15 standard errors between chains, and the two
halves of the held phase agreed.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tempering.simulated.partition_functions import (
    PartitionFunctions,
    PartitionPilot,
    check_effective,
    mean_of_weights,
)
from samplers.tempering.simulated.simulated_tempering import LEVEL, SimulatedTempering

DECAY = 0.8


def gain(step: int, levels: int, slow: int) -> float:
    """gamma_t L of step t = 1, 2, ..: min(1, L t^-0.8) up to step `slow`, then falling as L / t."""
    if step <= slow:
        return min(1.0, levels / math.pow(step, DECAY))
    return min(1.0, levels / (step - slow + math.pow(slow, DECAY)))


def level_log_weights(chain: SimulatedTempering, log_prob: Tensor) -> Tensor:
    """log w_i(theta), the distribution of the level given theta: ``(L, *batch)`` from U ``(*batch)``."""
    shape = (-1, *(1,) * log_prob.dim())
    joint = chain.betas.reshape(shape) * log_prob - chain.log_partition.reshape(shape)
    return joint.log_softmax(0)


def wang_landau(
    run: PilotRun[Any], chain: SimulatedTempering, pilot: PartitionPilot
) -> Steps[PartitionFunctions]:
    """log Z of every level from chains that walk over all of them, learning as they go.

    After `first_guess` the estimates are learned in ``steps * L`` steps: gains fall slowly in the first half,
    fast in the second. As many steps follow with the estimates held.

    Args:
        chain: its log Z_i are not read.

    Raises:
        ValueError: if an estimate is degenerate
            (`samplers.tempering.simulated.partition_functions.check_effective`).
    """
    target, one, steps = run.target, torch.ones_like(chain.betas[0]), pilot.steps_of(run)
    guess = yield from first_guess(run, chain, max(pilot.chains, chain.levels), steps)
    total = steps * chain.levels

    def learn(values: Values) -> None:
        weighted = chain.weighted(values["learned"])
        values["state"], info = weighted.step(target, values["state"], one, run.generator)
        values["evaluations"] += info.evaluations
        push = level_log_weights(weighted, values["state"].log_prob).exp().mean((1, 2), dtype=torch.float64)
        step = values["steps"] + 1
        values["learned"] = values["learned"] + gain(step, chain.levels, total // 2) * push

    learning = yield from run.walk(lambda: {**guess, "evaluations": 0}, learn, total)
    held = chain.weighted(learning["learned"])

    def hold(values: Values) -> None:
        values["state"], info = held.step(target, values["state"], one, run.generator)
        values["evaluations"] += info.evaluations
        values["log_weights"].append(level_log_weights(held, values["state"].log_prob).squeeze(1))

    begun: Values = {"state": learning["state"], "log_weights": [], "evaluations": 0}
    holding = yield from run.walk(lambda: begun, hold, total)
    evaluations = guess["evaluations"] + learning["evaluations"] + holding["evaluations"]
    return _estimates(held, learning["learned"], torch.stack(holding["log_weights"], 1), evaluations)


def first_guess(run: PilotRun[Any], chain: SimulatedTempering, chains: int, steps: int) -> Steps[Values]:
    """log Z by thermodynamic integration over chains that keep their levels: where learning sets out.

    The slope of log Z is the mean of U; the second half of the `steps` is averaged, the trapezoidal rule
    goes from level to level.

    Returns:
        Where the chains end (``state``), log Z ``(L,)`` in float64 (``learned``), and the ``evaluations``
        spent per chain.
    """
    still, one = copy.copy(chain), torch.ones_like(chain.betas[0])
    still.rate = 0.0

    def begin() -> Values:
        theta = run.target.initial((1, chains), run.generator)
        state = _spread(chain, chain.start(run.target, theta, one, run.generator))
        energy = torch.zeros_like(state.log_prob, dtype=torch.float64)
        return {"state": state, "energy": energy, "evaluations": 0}

    def step(values: Values) -> None:
        values["state"], info = still.step(run.target, values["state"], one, run.generator)
        values["evaluations"] += info.evaluations
        if values["steps"] >= steps // 2:
            values["energy"] += values["state"].log_prob / (steps - steps // 2)

    values = yield from run.walk(begin, step, steps)
    level, energy = values["state"].aux[LEVEL], values["energy"]
    sums = torch.zeros(chain.levels, dtype=torch.float64, device=energy.device)
    means = sums.index_add(0, level.flatten(), energy.flatten()) / level.flatten().bincount()
    rises = chain.betas.double().diff() * (means[1:] + means[:-1]) / 2
    learned = torch.cat([rises.new_zeros(1), rises.cumsum(0)])
    return {"state": values["state"], "learned": learned, "evaluations": values["evaluations"]}


def _spread(chain: SimulatedTempering, state: State) -> State:
    """`state` with the chains on all levels in turn."""
    level = state.aux[LEVEL]
    turns = torch.arange(level.numel(), device=level.device).reshape(level.shape) % chain.levels
    state.aux[LEVEL].copy_(turns)
    return state


def _estimates(
    chain: SimulatedTempering, learned: Tensor, log_weights: Tensor, evaluations: int
) -> PartitionFunctions:
    """The learned estimates, corrected by the held run's `log_weights` ``(L, steps, chains)``."""
    counted = torch.ones_like(log_weights[0], dtype=torch.bool)
    hot = log_weights[-1]
    reference = mean_of_weights(hot, counted)
    corrections, errors, effective = [], [], []
    for level, weights in enumerate(log_weights):
        ratio = mean_of_weights(weights, counted)
        check_effective(ratio, chain.betas.tolist(), level)
        corrections.append(ratio.log_mean - reference.log_mean)
        errors.append(difference_error(weights, hot))
        effective.append(ratio.effective)
    effective[-1] = math.inf
    values = (learned - learned[-1]).tolist()
    log_partition = [value + correction for value, correction in zip(values, corrections, strict=True)]
    return PartitionFunctions(log_partition, errors, effective, log_weights.shape[-1], evaluations)


def difference_error(log_weights: Tensor, log_others: Tensor) -> float:
    """Standard error of log mean exp(`log_weights`) - log mean exp(`log_others`), both ``(steps, chains)``.

    By the delta method from the chains, which are independent.
    """
    first, second = (values.double().exp().mean(0) for values in (log_weights, log_others))
    residuals = first / first.mean() - second / second.mean()
    return float((residuals.square().sum() / (len(residuals) - 1) / len(residuals)).sqrt())
