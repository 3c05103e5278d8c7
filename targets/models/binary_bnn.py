"""Two-layer Bayesian neural networks with weights -1 or 1 (EDLP, section 6.4; Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number
from targets.spaces import Binary
from targets.tabular.distinct_rows import DistinctRows
from targets.tabular.tabular_data import TabularData
from targets.target import Target

CHUNK = {"cpu": 1_200_000, "cuda": 2**25}
"""Number of hidden activations in memory at a time: on a CPU the size of its cache, on a GPU 128 MB."""
ROWS = 512
"""Minimum number of rows in a chunk, if there are as many; several networks share a chunk if they fit."""


class BinaryBNN(Target):
    """U(theta) = -scale * mean over training rows of (f(x) - y)^2, for every network of the batch at once.

    f(x) = sigmoid(v' tanh(W x + b) + a), with all of W, b, v and a equal to 2 theta - 1 (settings E.4, the
    released code's energy; the paper has a sum and no sigmoid). There is no prior. U is defined for any
    real theta. A state holds W feature by feature, then b, v and a.

    tanh(z) is computed as 2 sigmoid(2 z) - 1, which takes a sixth of the time on a CPU. Hidden activations
    are computed for `CHUNK` pairs of a hidden unit and a row at a time, so that memory does not grow with
    networks or rows.

    Spaces: binary.
    Source: EDLP, section 6.4.

    Args:
        tabular: the data set.
        n_hidden: number of hidden units.
        scale: factor of the mean squared error.

    Attributes:
        note: remark on the data set that must accompany its results, or None.

    Raises:
        ValueError: if `n_hidden` is not a positive integer or `scale` not a positive number.
    """

    batch_invariant = False
    by_seed = ("log_prob", "log_prob_and_grad")
    space: Binary

    def __init__(self, tabular: TabularData, n_hidden: int = 100, scale: float = 100.0) -> None:
        super().__init__()
        self.n_features, self.n_hidden = tabular.features, whole_number("n_hidden", n_hidden)
        self.scale = positive_number("scale", scale)
        self._memory: dict[tuple[torch.device, torch.dtype], Tensor] = {}
        self.note = tabular.note
        self.space = Binary(n_hidden * (tabular.features + 2) + 1)
        for name, part in tabular.parts.items():
            self.add_module(f"{name}_rows", DistinctRows(part.inputs, part.outcome))

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""
        found = self.get_submodule(f"{part}_rows")
        assert isinstance(found, DistinctRows)
        return found

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Log odds v' tanh(W x + b) + a of the distinct rows of a part, with padding, ``(*batch, rows)``."""
        flat, inputs = theta.reshape(-1, self.space.d), self.rows(part).inputs
        # Only autograd needs the hidden activations of every chunk.
        work = None if torch.is_grad_enabled() and theta.requires_grad else self._work(flat)
        found = []
        for group, slices in self._chunks(len(flat), inputs):
            weights, output, bias = self._unpacked(flat[group])
            hidden = (_hidden(weights, inputs[:, at], work) for at in slices)
            found.append(torch.cat([_logits(each, output, bias) for each in hidden], -1))
        return torch.cat(found).reshape(*theta.shape[:-1], inputs.shape[1])

    def log_prob(self, theta: Tensor) -> Tensor:
        rows = self.rows("train")
        error = self.logits(theta, "train").sigmoid() - rows.outcome
        return -self.scale * (error.square() @ rows.share + rows.spread)

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient, from one pass over the rows."""
        flat = theta.reshape(-1, self.space.d)
        log_prob, grad = torch.empty_like(flat[:, 0]), torch.empty_like(flat)
        work = self._work(flat)
        for group, slices in self._chunks(len(flat), self.rows("train").inputs):
            first = self.n_hidden * (self.n_features + 1)
            weights, output, bias = self._unpacked(flat[group])
            loss, to_weights, to_output, to_bias = self._sums(weights, output, bias, slices, work)
            # dU / dtheta is -scale * 2 * 2 times the sums; tanh is 2 s - 1, and v a factor of (W, b)'s.
            at_first = grad[group, :first].view(to_weights.shape)
            torch.mul(to_weights, output.unsqueeze(1).mul(-16.0 * self.scale), out=at_first)
            grad[group, first:-1] = to_output.mul_(2.0).sub_(to_bias.unsqueeze(-1)).mul_(-4.0 * self.scale)
            grad[group, -1] = to_bias.mul_(-4.0 * self.scale)
            log_prob[group] = loss.mul_(-self.scale)
        return log_prob.reshape(theta.shape[:-1]), grad.reshape(theta.shape)

    def _sums(
        self, weights: Tensor, output: Tensor, bias: Tensor, slices: list[slice], work: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Mean squared error ``(networks,)``, and three sums over rows that determine its gradient.

        With e half the derivative of a row's contribution to the error with respect to its log odds, and s =
        sigmoid(2 z), they are the sums of e (s - s^2) x ``(networks, features + 1, n_hidden)``, of e s
        ``(networks, n_hidden)`` and of e ``(networks,)``. Each chunk costs four matrix products and two
        further passes, all in the same memory.

        Args:
            work: memory for a chunk; it grows to the size of the first one.
        """
        rows, networks = self.rows("train"), len(bias)
        units, features = networks * self.n_hidden, self.n_features + 1
        loss, to_bias = torch.zeros_like(bias), torch.zeros_like(bias)
        to_weights, to_output = bias.new_zeros(features, units), torch.zeros_like(output)
        for at in slices:
            inputs, share = rows.inputs[:, at], rows.share[at]
            hidden = _hidden(weights, inputs, work)
            found = _logits(hidden, output, bias).sigmoid_()
            error = found - rows.outcome[at]
            weighted = error * share
            loss += error.mul_(weighted).sum(-1)
            slope = _without_tiny(_sigmoid_backward(weighted, found)).unsqueeze(1)
            to_bias += slope.sum((1, 2))
            to_output += torch.bmm(slope, hidden.mT).squeeze(1)
            to_weights.addmm_(inputs, _sigmoid_backward(slope, hidden).flatten(0, 1).T)
        stacked = to_weights.view(features, networks, self.n_hidden).transpose(0, 1)
        return loss.add_(rows.spread), stacked, to_output, to_bias

    def _work(self, like: Tensor) -> Tensor:
        """Reusable memory for a chunk: memory that is freed after each step would be zeroed for the next."""
        place = (like.device, like.dtype)
        if place not in self._memory:
            self._memory[place] = like.new_empty(0)
        return self._memory[place]

    def _unpacked(self, flat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """2 (W, b) ``(networks, n_hidden, features + 1)``, v ``(networks, n_hidden)``, a ``(networks,)``."""
        first = self.n_hidden * (self.n_features + 1)
        weights = flat * 2.0 - 1.0
        doubled = weights[:, :first].reshape(-1, self.n_features + 1, self.n_hidden).mT * 2.0
        return doubled, weights[:, first:-1], weights[:, -1]

    def _chunks(self, networks: int, inputs: Tensor) -> Iterator[tuple[slice, list[slice]]]:
        """Groups of networks that are computed together, each with the slices of rows that it loops over."""
        rows, most = inputs.shape[1], CHUNK.get(inputs.device.type, CHUNK["cpu"]) // self.n_hidden
        together = min(networks, max(1, most // min(ROWS, rows)))
        # A matrix product with a number of rows that is not a multiple of 16 takes a third longer.
        count = -(-rows // max(1, most // together))
        size = 16 * -(-rows // (16 * count))
        slices = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
        for start in range(0, networks, together):
            yield slice(start, min(start + together, networks)), slices


def _hidden(doubled: Tensor, inputs: Tensor, work: Tensor | None) -> Tensor:
    """sigmoid(2 (W x + b)) of each network, ``(networks, n_hidden, rows)``: one product for all of them.

    Args:
        work: memory for the result, which grows if it is too small; None to allocate.
    """
    networks, units, rows = *doubled.shape[:2], inputs.shape[1]
    out = None if work is None else matrix_in(work, networks * units, rows)
    return torch.mm(doubled.flatten(0, 1), inputs, out=out).sigmoid_().view(networks, units, rows)


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


def _logits(hidden: Tensor, output: Tensor, bias: Tensor) -> Tensor:
    """v' tanh + a ``(networks, rows)``, where tanh is 2 `hidden` - 1."""
    offset = (bias - output.sum(-1)).reshape(-1, 1, 1)
    return torch.baddbmm(offset, output.unsqueeze(1), hidden, alpha=2.0).squeeze(1)


def matrix_in(memory: Tensor, height: int, width: int) -> Tensor:
    """A matrix ``(height, width)`` in `memory`, which grows if it is too small."""
    if memory.numel() < height * width:
        memory.resize_(height * width)
    return memory[: height * width].view(height, width)
