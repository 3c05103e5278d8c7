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
from targets.models.row_blocks import RowBlock, row_blocks

CHUNK = {"cpu": 1_200_000, "cuda": 2**25}
"""Number of hidden activations in memory at a time: on a CPU the size of its cache, on a GPU 128 MB."""
ROWS = {"cpu": 1024, "cuda": 512}
"""Minimum number of rows in a chunk, if there are as many; several networks share a chunk if they fit."""
FEW = 50
"""Hidden units of a group of networks below which looking for constant columns takes longer than it saves.

Measured on the 88 columns of Adult; on the 13 of COMPAS the search takes 2 to 10 % at any number.
"""


class Networks(NamedTuple):
    """2 (W, b) ``(networks, n_hidden, features + 1)``, v ``(networks, n_hidden)`` and a ``(networks,)``."""

    doubled: Tensor
    output: Tensor
    bias: Tensor

    @classmethod
    def of(cls, theta: Tensor, n_hidden: int) -> Networks:
        """Those of the states ``(networks, d)``."""
        first, weights = theta.shape[1] - n_hidden - 1, theta * 2.0 - 1.0
        doubled = weights[:, :first].reshape(len(theta), -1, n_hidden).mT * 2.0
        return cls(doubled, weights[:, first:-1], weights[:, -1])


def log_odds(theta: Tensor, n_hidden: int, inputs: Tensor, work: Tensor | None) -> Tensor:
    """``(networks, rows)``.

    Args:
        theta: states of the networks, ``(networks, d)``.
        inputs: rows as columns, with a 1 for the bias, ``(features + 1, rows)``.
        work: memory for a chunk, which grows to the size of the first one; None where autograd is to
            differentiate, which needs all activations.
    """
    found = []
    for group, blocks in _groups(len(theta), n_hidden, inputs, whole=work is None):
        networks = Networks.of(theta[group], n_hidden)
        hidden = (_hidden(networks, block, work) for block in blocks)
        found.append(torch.cat([_output(networks, each) for each in hidden], -1))
    return torch.cat(found)


def error_and_grad(
    theta: Tensor, n_hidden: int, rows: tuple[Tensor, Tensor, Tensor], scale: float, work: Tensor
) -> tuple[Tensor, Tensor]:
    """Each network's mean squared error ``(networks,)``, and the gradient of -scale times it, like `theta`.

    Each chunk costs four matrix products and two further passes.

    Args:
        theta, work: as those of `log_odds`.
        rows: `inputs` as those of `log_odds`, and `outcome` and `share` ``(rows,)`` of `DistinctRows`.
    """
    (features, _), error, grad = rows[0].shape, theta.new_zeros(len(theta)), theta.new_empty(theta.shape)
    first = features * n_hidden
    for group, blocks in _groups(len(theta), n_hidden, rows[0]):
        networks = Networks.of(theta[group], n_hidden)
        to_weights, to_output, to_bias = _sums(networks, rows[1:], blocks, work, error[group])
        # dU / dtheta is -scale * 2 * 2 times the sums; tanh is 2 s - 1, and v a factor of (W, b)'s.
        at_first = grad[group, :first].view(to_weights.shape)
        torch.mul(to_weights, networks.output.unsqueeze(1).mul(-16.0 * scale), out=at_first)
        grad[group, first:-1] = to_output.mul_(2.0).sub_(to_bias.unsqueeze(-1)).mul_(-4.0 * scale)
        grad[group, -1] = to_bias.mul_(-4.0 * scale)
    return error, grad


def _sums(
    networks: Networks,
    rows: tuple[Tensor, Tensor],
    blocks: list[RowBlock],
    work: Tensor,
    error: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Three sums over rows, which determine the gradient; adds the mean squared error to `error`.

    With e half the derivative of a row's contribution to the error with respect to its log odds, and s =
    sigmoid(2 z), they are the sums of e (s - s^2) x ``(networks, features + 1, n_hidden)``, of e s
    ``(networks, n_hidden)`` and of e ``(networks,)``.
    """
    (outcome, share), (count, units) = rows, networks.output.shape
    to_weights = outcome.new_zeros(networks.doubled.shape[-1], count * units)
    to_output, to_bias = outcome.new_zeros(count, units), outcome.new_zeros(count)
    for block in blocks:
        hidden = _hidden(networks, block, work)
        predicted = _output(networks, hidden).sigmoid_()
        residual = predicted - outcome[block.at]
        weighted = residual * share[block.at]
        error += residual.mul_(weighted).sum(-1)
        slope = _without_tiny(_sigmoid_backward(weighted, predicted)).unsqueeze(1)
        to_bias += slope.sum((1, 2))
        to_output += torch.bmm(slope, hidden.mT).squeeze(1)
        slopes = _sigmoid_backward(slope, hidden).flatten(0, 1)
        if onednn.serves(len(block.inputs) * slopes.numel(), block.inputs, slopes):
            block.add_to(to_weights, onednn.product(block.inputs, slopes.T))
        elif block.kept is None:
            to_weights.addmm_(block.inputs, slopes.T)
        else:
            block.add_to(to_weights, torch.mm(block.inputs, slopes.T))
    return to_weights.view(-1, count, units).transpose(0, 1), to_output, to_bias


def chunks(networks: int, units: int, inputs: Tensor) -> Iterator[tuple[slice, list[slice]]]:
    """Groups of networks that are computed together, each with the slices of rows that it loops over."""
    device = inputs.device.type if inputs.device.type in CHUNK else "cpu"
    rows, most = inputs.shape[1], CHUNK[device] // units
    together = min(networks, max(1, most // min(ROWS[device], rows)))
    # A matrix product with a number of rows that is not a multiple of 16 takes a third longer.
    count = -(-rows // max(1, most // together))
    size = 16 * -(-rows // (16 * count))
    slices = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
    for start in range(0, networks, together):
        yield slice(start, min(start + together, networks)), slices


def _groups(
    networks: int, units: int, inputs: Tensor, *, whole: bool = False
) -> Iterator[tuple[slice, list[RowBlock]]]:
    """The groups of `chunks`, all with the same blocks of rows."""
    blocks: list[RowBlock] = []
    for group, slices in chunks(networks, units, inputs):
        if not blocks:
            few = (group.stop - group.start) * units < FEW
            blocks = row_blocks(inputs, slices, whole=whole or few)
        yield group, blocks


def _hidden(networks: Networks, block: RowBlock, work: Tensor | None) -> Tensor:
    """sigmoid(2 (W x + b)) of each network, ``(networks, n_hidden, rows)``: one product for all of them."""
    weights, inputs = block.weights_kept(networks.doubled.flatten(0, 1)), block.inputs
    (count, units), rows = networks.output.shape, inputs.shape[1]
    if onednn.serves(weights.numel() * rows, weights, inputs):
        return onednn.product(weights, inputs, function="sigmoid").view(count, units, rows)
    out = None if work is None else matrix_in(work, count * units, rows)
    return torch.mm(weights, inputs, out=out).sigmoid_().view(count, units, rows)


def _output(networks: Networks, hidden: Tensor) -> Tensor:
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
