"""The mean log density of data under any target, and the exact log partition function of a small one.

Their difference is the mean log-likelihood. `metrics.likelihood.rbm_log_partition` does the same for an RBM
in closed form.
"""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor

from targets.reference_distribution import reference_distribution
from targets.spaces import Discrete, discrete_space
from targets.target import HasLogPartition, Target

MAX_STATES = 2**20
"""Largest space that is enumerated."""

BLOCK_STATES = 250
"""States that are evaluated at once: a network layer with 64 maps of 28 x 28 then takes 50 MB."""


@torch.no_grad()
def exact_log_partition(target: Target) -> float:
    """log Z = log sum over all states of exp(U), summed in float64.

    Raises:
        ValueError: if the space is not discrete or has more than `MAX_STATES` states.
    """
    space = discrete_space("enumeration", target.space)
    if space.size > MAX_STATES:
        raise ValueError(f"log Z is enumerated for at most {MAX_STATES} states, {space.size} were given")
    states = space.states(target.like().dtype)
    return float(torch.cat([_log_prob(target, block) for block in _blocks(states)]).logsumexp(0))


def known_log_partition(target: Target) -> float | None:
    """log Z as the target knows it or by enumeration; None where neither can be had."""
    if isinstance(target, HasLogPartition):
        with suppress(ValueError):
            return float(target.log_partition(1.0))  # one's own may have no default
    small = isinstance(target.space, Discrete) and target.space.size <= MAX_STATES
    return exact_log_partition(target) if small else None


@torch.no_grad()
def mean_log_prob(target: Target, data: Tensor) -> float:
    """Mean of U over the data, in nats, summed in float64; minus log Z it is the mean log-likelihood.

    Args:
        data: states ``(n, *event_shape)`` of any dtype and device.

    Raises:
        ValueError: if there are none, or their shape is not that of states.
    """
    _check(data, target)
    return float(sum(_log_prob(target, block).sum() for block in _blocks(data))) / len(data)


@torch.no_grad()
def reference_log_likelihood(target: Target, data: Tensor) -> float:
    """Mean log-likelihood of the data under the reference distribution of `target`, in nats.

    Raises:
        ValueError: as `mean_log_prob`.
    """
    _check(data, target)
    reference, like = reference_distribution(target), target.like()
    return float(sum(reference.log_prob(block.to(like)).sum() for block in _blocks(data))) / len(data)


def evenly(data: Tensor, most: int) -> Tensor:
    """At most `most` rows of `data`, evenly spaced, since a data set may be sorted."""
    if len(data) <= most:
        return data
    return data[torch.arange(most, device=data.device) * len(data) // most]


def _blocks(states: Tensor) -> tuple[Tensor, ...]:
    return torch.split(states, BLOCK_STATES)


def _log_prob(target: Target, states: Tensor) -> Tensor:
    """U of some states, whatever their dtype and device, in float64."""
    return target.log_prob(states.to(target.like())).double()


def _check(data: Tensor, target: Target) -> None:
    event = target.space.event_shape
    if data.shape[1:] != event or len(data) == 0:
        wanted = ", ".join(("states", *map(str, event)))
        raise ValueError(f"data must have the shape ({wanted}), {tuple(data.shape)} was given")
