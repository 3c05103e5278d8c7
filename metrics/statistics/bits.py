"""Binary states as bits, eight coordinates a byte, as `numpy.packbits` has them, on any device."""

from __future__ import annotations

import torch
from torch import Tensor


def packed(theta: Tensor) -> Tensor:
    """uint8 ``(*batch, ceil(d / 8))`` of states of zeros and ones ``(*batch, d)``."""
    ones = torch.nn.functional.pad((theta > 0.5).to(torch.uint8), (0, -theta.shape[-1] % 8))
    eights = ones.reshape(*ones.shape[:-1], -1, 8)
    return torch.bitwise_left_shift(eights, _shifts(theta)).sum(-1, dtype=torch.uint8)


def unpacked(bits: Tensor, d: int) -> Tensor:
    """The states behind `packed`: uint8 ``(*batch, d)``."""
    return torch.bitwise_right_shift(bits.unsqueeze(-1), _shifts(bits)).bitwise_and(1).flatten(-2)[..., :d]


def _shifts(like: Tensor) -> Tensor:
    return torch.arange(7, -1, -1, dtype=torch.uint8, device=like.device)
