"""What an exact kernel must pass; the mutants must fail at least one of these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import invariance_error, tempered_probabilities, transition_matrix
from samplers.informed.dlmc import DLMC
from samplers.kernel import Kernel
from targets import Discrete, Target

FALSE_ALARM = 1e-6


def invariance(kernel: Kernel, target: Target, beta: float, aux: Mapping[str, Tensor] | None = None) -> float:
    """max |pi P - pi| of one step for pi^beta."""
    return invariance_error(
        transition_matrix(kernel, target, beta, aux), tempered_probabilities(target, beta)
    )


def dkw_band(draws: int, rows: int) -> float:
    """Distance between an empirical and a true distribution function that `rows` rows exceed with 1e-6."""
    return math.sqrt(math.log(2 * rows / FALSE_ALARM) / (2 * draws))


def sampled_rows(
    kernel: Kernel,
    target: Target,
    beta: float,
    draws: int,
    steps: int = 1,
    aux: Mapping[str, Tensor] | None = None,
    seed: int = 0,
) -> Tensor:
    """Frequencies of where `steps` steps lead from each state, ``(size, size)``, `draws` chains a state."""
    space = target.space
    assert isinstance(space, Discrete)
    generator = torch.Generator().manual_seed(seed)
    states = space.states()
    counts = torch.zeros((len(states), len(states)), dtype=torch.float64)
    tempered = torch.tensor(beta, dtype=torch.float64)
    rows = torch.arange(len(states)).unsqueeze(-1)
    remaining = draws
    while remaining > 0:
        chunk = min(remaining, 50_000)
        theta = states.unsqueeze(1).expand(len(states), chunk, *space.event_shape).contiguous()
        state = kernel.init(target, theta, tempered)
        if aux is not None:
            state = replace(state, aux=aux)
        for _ in range(steps):
            state, _ = kernel.step(target, state, tempered, generator)
        flat = (rows * len(states) + space.index(state.theta)).flatten()
        counts += torch.bincount(flat, minlength=len(states) ** 2).reshape(counts.shape)
        remaining -= chunk
    return counts / draws


def largest_gap(frequencies: Tensor, matrix: Tensor) -> float:
    """Largest distance between the rows' distribution functions."""
    return float((frequencies.cumsum(-1) - matrix.cumsum(-1)).abs().max())


def cache_error(kernel: Kernel, target: Target, beta: float, steps: int = 50) -> float:
    """How far the cached log density and gradient are from fresh ones after `steps` steps."""
    space = target.space
    assert isinstance(space, Discrete)
    tempered = torch.tensor(beta, dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    state = kernel.init(target, space.states(), tempered)
    for _ in range(steps):
        state, _ = kernel.step(target, state, tempered, generator)
    log_prob, grad = target.log_prob_and_grad(state.theta)
    error = (state.log_prob - log_prob).abs().max()
    if state.grad is not None:
        error = torch.maximum(error, (state.grad - grad).abs().max())
    return float(error)


def rate_error(kernel: DLMC, target: Target) -> float:
    """How far moves in a short time are from the rates g(t), relative to them.

    Metropolis-Hastings makes any g exact, but it rejects moves of one that is not balanced, however short the
    time.
    """
    space = target.space
    assert isinstance(space, Discrete)
    levels, log_prob = space.to_levels(space.states()), target.log_prob(space.states())
    single = (levels.unsqueeze(1) != levels).sum(-1) == 1
    wanted = kernel.step_size * kernel.function(log_prob - log_prob.unsqueeze(-1)).exp()
    return float((transition_matrix(kernel, target)[single] / wanted[single] - 1.0).abs().max())
