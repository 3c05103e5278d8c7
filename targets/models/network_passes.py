"""Passes of two-layer networks over the rows of a table, for many networks at once and some rows at a time.

A network gives a row x the log odds v' tanh(W x + b) + a. tanh(z) is computed as 2 sigmoid(2 z) - 1, which
takes a sixth of the time on a CPU. Hidden activations are computed for `CHUNK` pairs of a hidden unit and a
row at a time, so that memory does not grow with networks or rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from targets.compiling import onednn

CHUNK = {"cpu": 1_200_000, "cuda": 2**25}
"""Number of hidden activations in memory at a time: on a CPU the size of its cache, on a GPU 128 MB."""
ROWS = 512
"""Minimum number of rows in a chunk, if there are as many; several networks share a chunk if they fit."""


class Networks(NamedTuple):
    """2 (W, b) ``(networks, n_hidden, features + 1)``, v ``(networks, n_hidden)`` and a ``(networks,)``."""

    doubled: Tensor
    output: Tensor
    bias: Tensor

    def some(self, group: slice) -> Networks:
        return Networks(*(each[group] for each in self))


class Sums(NamedTuple):
    """Mean squared error over distinct rows, and three sums that determine its gradient.

    With e half the derivative of a row's contribution to the error with respect to its log odds, and s =
    sigmoid(2 z): `error` ``(networks,)``; `to_weights`, the sums of e (s - s^2) x ``(networks, features + 1,
    n_hidden)``; `to_output`, of e s ``(networks, n_hidden)``; `to_bias`, of e ``(networks,)``.
    """

    error: Tensor
    to_weights: Tensor
    to_output: Tensor
    to_bias: Tensor


def log_odds(networks: Networks, inputs: Tensor, work: Tensor | None, *, fast: bool = False) -> Tensor:
    """``(networks, rows)``.

    Args:
        inputs: rows as columns, with a 1 for the bias, ``(features + 1, rows)``.
        work: memory for a chunk, which grows to the size of the first one; None to allocate.
        fast: whether the faster library does the products; the result differs by rounding.
    """
    found = []
    count, units = networks.output.shape
    for group, slices in chunks(count, units, inputs):
        some = networks.some(group)
        hidden = (_hidden(some.doubled, inputs[:, at], work, fast=fast) for at in slices)
        found.append(torch.cat([_log_odds(some, each) for each in hidden], -1))
    return torch.cat(found)


def error_sums(
    networks: Networks, inputs: Tensor, outcome: Tensor, share: Tensor, work: Tensor, *, fast: bool = False
) -> Sums:
    """Each chunk costs four matrix products and two further passes, all in the same memory.

    Args:
        inputs, work, fast: as those of `log_odds`.
        outcome, share: those of `DistinctRows`, ``(rows,)``.
    """
    output = networks.output
    features, (count, units) = len(inputs), output.shape
    found = Sums(
        torch.zeros_like(networks.bias),
        output.new_empty(count, features, units),
        torch.zeros_like(output),
        torch.zeros_like(networks.bias),
    )
    for group, slices in chunks(count, units, inputs):
        some, (error, to_weights, to_output, to_bias) = networks.some(group), (each[group] for each in found)
        flat = inputs.new_zeros(features, len(error) * units)
        for at in slices:
            rows = inputs[:, at]
            hidden = _hidden(some.doubled, rows, work, fast=fast)
            predicted = _log_odds(some, hidden).sigmoid_()
            residual = predicted - outcome[at]
            weighted = residual * share[at]
            error += residual.mul_(weighted).sum(-1)
            slope = _without_tiny(_sigmoid_backward(weighted, predicted)).unsqueeze(1)
            to_bias += slope.sum((1, 2))
            to_output += torch.bmm(slope, hidden.mT).squeeze(1)
            slopes = _sigmoid_backward(slope, hidden).flatten(0, 1)
            if fast and onednn.is_faster(rows, len(flat) * slopes.numel()):
                flat += onednn.product(rows, slopes.T)
            else:
                flat.addmm_(rows, slopes.T)
        to_weights.copy_(flat.view(features, len(error), units).transpose(0, 1))
    return found


def chunks(networks: int, units: int, inputs: Tensor) -> Iterator[tuple[slice, list[slice]]]:
    """Groups of networks that are computed together, each with the slices of rows that it loops over."""
    rows, most = inputs.shape[1], CHUNK.get(inputs.device.type, CHUNK["cpu"]) // units
    together = min(networks, max(1, most // min(ROWS, rows)))
    # A matrix product with a number of rows that is not a multiple of 16 takes a third longer.
    count = -(-rows // max(1, most // together))
    size = 16 * -(-rows // (16 * count))
    slices = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
    for start in range(0, networks, together):
        yield slice(start, min(start + together, networks)), slices


def _hidden(doubled: Tensor, inputs: Tensor, work: Tensor | None, *, fast: bool) -> Tensor:
    """sigmoid(2 (W x + b)) of each network, ``(networks, n_hidden, rows)``: one product for all of them."""
    networks, units, rows = *doubled.shape[:2], inputs.shape[1]
    weights = doubled.flatten(0, 1)
    if fast and onednn.is_faster(weights, weights.numel() * rows):
        return onednn.product(weights, inputs, function="sigmoid").view(networks, units, rows)
    out = None if work is None else matrix_in(work, networks * units, rows)
    return torch.mm(weights, inputs, out=out).sigmoid_().view(networks, units, rows)


def _log_odds(networks: Networks, hidden: Tensor) -> Tensor:
    """v' tanh + a ``(networks, rows)``, where tanh is 2 `hidden` - 1."""
    _, output, bias = networks
    offset = (bias - output.sum(-1)).reshape(-1, 1, 1)
    return torch.baddbmm(offset, output.unsqueeze(1), hidden, alpha=2.0).squeeze(1)


def _sigmoid_backward(slope: Tensor, sigmoid: Tensor) -> Tensor:
    """slope (s - s^2), the backward pass of the sigmoid, in place of `sigmoid`."""
    grad = torch.ops.aten.sigmoid_backward.grad_input(slope, sigmoid, grad_input=sigmoid)
    assert isinstance(grad, Tensor)
    return grad


def _without_tiny(slope: Tensor) -> Tensor:
    """`slope` with 0 for what is below the square root of the smallest normal number.

    Products of the rest with hidden units' slopes are not denormal, unless these are as small themselves.

    Some CPUs of Intel multiply denormal numbers a hundred times slower than others. In float32 the limit is
    1e-19: outputs that are certain to 19 digits move no weight.
    """
    return slope.masked_fill_(slope.abs() < torch.finfo(slope.dtype).tiny ** 0.5, 0.0)


def matrix_in(memory: Tensor, height: int, width: int) -> Tensor:
    """A matrix ``(height, width)`` in `memory`, which grows if it is too small."""
    if memory.numel() < height * width:
        memory.resize_(height * width)
    return memory[: height * width].view(height, width)
