"""Exact log Z of narrow periodic strips, by the product of the transfer matrices of their rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from targets.spaces import Ordinal

MOST_ROWS = 1024
"""Most states of a row: a transfer matrix then has a million entries."""


def transfer_log_partition(couplings: Tensor, field: Tensor, beta: Tensor) -> Tensor:
    """log sum exp(beta U) of a strip, a scalar, float64; differentiable in `beta`.

    U = sum over edges of K_e 1{levels of the ends agree} + sum_i f_i(level of i), as in
    `targets.target.PairwiseTerms`. Couplings may differ from edge to edge.

    Source: Kramers and Wannier (1941), for couplings and fields that differ from row to row.

    Args:
        couplings: K ``(2, length, width)``: of each site with the next one along the length, and along the
            width; both ends are joined.
        field: f ``(length, width, levels)``.
        beta: a scalar.

    Raises:
        ValueError: if the couplings are too strong for float64.
    """
    size = field.shape[-1] ** field.shape[-2]
    product = torch.eye(size, dtype=torch.float64, device=field.device)
    log_scale = beta.new_zeros(())
    for terms in row_terms(couplings, field):
        exponent = beta * terms
        highest = exponent.detach().amax()  # exp of a strong coupling overflows
        product = product @ (exponent - highest).exp()
        largest = product.detach().amax()
        product, log_scale = product / largest, log_scale + (largest.log() + highest)
    total = product.trace()
    require_in_range("log Z", total)
    return total.log() + log_scale


def require_in_range(what: str, weight: Tensor) -> None:
    """Refuses couplings that are so strong that float64 cannot hold the weights of the states of a row.

    Args:
        what: what is asked for, for the message.
        weight: of all rows together, a scalar: more than 0 and finite.

    Raises:
        ValueError: if it is not.
    """
    if not 0.0 < float(weight.detach()) < math.inf:
        raise ValueError(
            f"{what} by transfer matrices needs weaker couplings and fields, or a narrower lattice: weights "
            f"of a row's states are too far apart for float64, their sum came to {float(weight.detach())}"
        )


def row_states(couplings: Tensor, field: Tensor) -> Tensor:
    """The levels of a row in each of its states, ``(states, width)``, int64."""
    return Ordinal(couplings.shape[-1], field.shape[-1]).states().long().to(field.device)


def row_terms(couplings: Tensor, field: Tensor) -> Iterator[Tensor]:
    """The terms of U of each row and of its edges to the next, ``(states, states)``, float64."""
    rows = row_states(couplings, field)
    along, across = couplings.double().unbind(0)
    beside = (rows == rows.roll(-1, -1)).double()
    site = torch.arange(rows.shape[-1], device=rows.device)
    agree = (rows.unsqueeze(1) == rows).double()
    for row in range(couplings.shape[1]):
        energy = beside @ across[row] + field[row].double()[site, rows].sum(-1)
        yield energy.unsqueeze(-1) + agree @ along[row]
