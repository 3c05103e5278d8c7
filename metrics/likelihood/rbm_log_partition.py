"""The exact log partition function of a small RBM, and mean log densities of data.

The mean log-likelihood of data is `rbm_mean_log_prob` minus log Z, exact or estimated.
"""

from __future__ import annotations

import torch
from torch import Tensor

from targets import RBM, Binary
from targets.sum_log import LOG2_E, sum_log

MAX_UNITS = 20
"""Largest layer that is enumerated: about a million states."""

BLOCK_UNITS = 11
"""Units whose states are evaluated at once: 2048 rows, 13 MB for 784 units of the other layer."""

BLOCK_IMAGES = 4096
"""Images that are evaluated at once, so that memory does not grow with the data set."""


@torch.no_grad()
def exact_rbm_log_partition(rbm: RBM) -> float:
    """log Z = log sum over v and h of exp(h'Wv + c'h + b'v), in float64.

    The smaller layer is enumerated and the other one summed in closed form: 2^n m operations for n units
    in the smaller and m in the larger layer. Memory does not grow with the number of states.

    Raises:
        ValueError: if both layers have more than `MAX_UNITS` units.
    """
    units = min(rbm.n_visible, rbm.n_hidden)
    if units > MAX_UNITS:
        raise ValueError(
            f"log Z is enumerated for at most {MAX_UNITS} hidden or visible units, "
            f"n_hidden={rbm.n_hidden} and n_visible={rbm.n_visible} were given"
        )
    weight, listed, summed = rbm.weight.double(), rbm.hidden_bias.double(), rbm.visible_bias.double()
    if rbm.n_visible < rbm.n_hidden:
        weight, listed, summed = weight.T, summed, listed
    low = min(units, BLOCK_UNITS)
    states = Binary(low).states().to(weight.device)
    block, block_bias = states @ weight[:low] + summed, states @ listed[:low]
    if low == units:
        return float(_log_sum(block, block_bias))
    # A state of the remaining units shifts the logits of the whole block by a constant row.
    others = Binary(units - low).states().to(weight.device)
    shifts, biases = others @ weight[low:], others @ listed[low:]
    sums = [_log_sum(block + shift, block_bias + bias) for shift, bias in zip(shifts, biases, strict=True)]
    return float(torch.stack(sums).logsumexp(0))


@torch.no_grad()
def rbm_mean_log_prob(rbm: RBM, data: Tensor) -> float:
    """Mean of U over the data, in nats; minus log Z it is the mean log-likelihood.

    Forward annealing underestimates log Z on average, and thus overestimates the likelihood.

    Args:
        data: images ``(images, n_visible)`` of zeros and ones, of any dtype and device.

    Raises:
        ValueError: if there are no images, or they have another number of pixels.
    """
    _check(data, rbm.n_visible)
    total = torch.zeros((), dtype=torch.float64, device=rbm.weight.device)
    for block in torch.split(data, BLOCK_IMAGES):
        states = block.to(rbm.weight)
        total += (softplus_sum(rbm.hidden_logits(states)) + (states @ rbm.visible_bias).double()).sum()
    return float(total) / len(data)


def _log_sum(logits: Tensor, bias: Tensor) -> Tensor:
    """log of the sum over the rows of exp(bias) prod (1 + exp(logits))."""
    return (bias + softplus_sum(logits)).logsumexp(0)


def _check(data: Tensor, pixels: int) -> None:
    if data.dim() != 2 or data.shape[1] != pixels or len(data) == 0:
        raise ValueError(f"data must have the shape (images, {pixels}), {tuple(data.shape)} was given")


def softplus_sum(logits: Tensor, scale: float = 1.0) -> Tensor:
    """sum_j log(1 + exp(scale * logits_j)) over the last axis, in float64 whatever the dtype of `logits`.

    softplus(z) = max(z, 0) + log(1 + exp(-|z|)); the logarithms are taken of products of several factors
    (`targets.sum_log`), which is exact to about 1e-15 per unit and faster than one logarithm per unit.

    Args:
        logits: of any size and sign, ``(*batch, units)``.
        scale: not negative, such as an inverse temperature.

    Returns:
        ``(*batch)``.
    """
    wide = logits.double()
    logs = sum_log(wide.abs().mul_(-scale * LOG2_E).exp2_().add_(1.0))
    return logs + scale * wide.clamp_min(0.0).sum(-1)
