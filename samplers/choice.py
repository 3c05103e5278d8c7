"""Choosing between two states of a batch of chains, chain by chain: every bit of the one or the other."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import State
from targets.compiling.tracing import is_traced

WORD = torch.complex128
"""The widest type that torch moves, 16 bytes."""

LONG_ROW = 64
"""Shortest rows that `choose_rows` copies in words: for shorter ones making the views costs more."""


def broadcast_event(values: Tensor, theta: Tensor) -> Tensor:
    """`values` of shape ``(*batch)`` (or broadcasting to it) with trailing axes to match `theta`'s event."""
    return values.reshape(values.shape + (1,) * (theta.dim() - values.dim()))


def choose(mask: Tensor, new: State, old: State) -> State:
    """`new` where `mask` ``(*batch)`` holds, `old` elsewhere.

    Auxiliaries of chains (`of_chains`) are chosen with them; those that all chains share, such as a position
    in a cycle, go on whatever is chosen.
    """
    grad = None
    if new.grad is not None and old.grad is not None:
        grad = choose_rows(mask, new.grad, old.grad)
    return State(
        theta=choose_rows(mask, new.theta, old.theta),
        log_prob=torch.where(mask, new.log_prob, old.log_prob),
        grad=grad,
        aux={
            name: choose_rows(mask, value, old.aux[name]) if of_chains(value, mask.shape) else value
            for name, value in new.aux.items()
        },
        cached_by=new.cached_by,
    )


def of_chains(value: Tensor, batch: torch.Size) -> bool:
    """Whether an auxiliary belongs to each chain of a `batch`, and so to its theta: it has its axes."""
    return value.shape[: len(batch)] == batch


def choose_rows(mask: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """`new` where `mask` ``(*batch)`` holds, `old` elsewhere, both ``(*batch, *event)`` of one dtype."""
    wide = broadcast_event(mask, new)
    if (
        not is_traced()
        and new.dim() > mask.dim()
        and new.shape[-1] >= LONG_ROW
        and _in_words(new)
        and _in_words(old)
    ):
        # Nothing is computed, so words of 16 bytes do: on the CPU a third of the time.
        return torch.where(wide, new.view(WORD), old.view(WORD)).view(new.dtype)
    return torch.where(wide, new, old)


def _in_words(values: Tensor) -> bool:
    """Whether the rows of `values` can be viewed as words; a single row may have any stride."""
    places = (values.storage_offset(), *values.stride()[:-1], values.shape[-1])
    size = values.element_size()
    return values.is_contiguous() and all(place * size % WORD.itemsize == 0 for place in places)
