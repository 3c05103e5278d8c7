"""Degradations of test images before reconstruction: Gaussian noise, or a missing block."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import Generator, normal, uniform


def noisy(images: Tensor, factor: float, generator: Generator) -> Tensor:
    """`images` ``(n, height, width)`` plus `factor` times standard normal noise, clipped to [0, 1]."""
    noise = normal(generator, (1, len(images)), images.shape[1:], like=images)[0]
    return (images + factor * noise).clamp(0, 1)


def occluded(images: Tensor, side: int, generator: Generator) -> Tensor:
    """`images` ``(n, height, width)``, each with a block of `side` x `side` zeros at a uniform position.

    Raises:
        ValueError: if the block is larger than the image.
    """
    height, width = images.shape[1:]
    if side > min(height, width):
        raise ValueError(f"occlusion must fit into {height} x {width} pixels, {side} was given")
    places = uniform(generator, (1, len(images)), (2,), like=images.new_empty((), dtype=torch.float64))[0]
    span = torch.tensor([height - side + 1, width - side + 1], device=images.device)
    top, left = (places * span).long().unbind(-1)
    rows, columns = _inside(top, side, height), _inside(left, side, width)
    return images.masked_fill(rows.unsqueeze(-1) & columns.unsqueeze(-2), 0.0)


def _inside(first: Tensor, side: int, length: int) -> Tensor:
    """Which of `length` positions are in ``[first, first + side)``: ``(n,)`` to bool ``(n, length)``."""
    places = torch.arange(length, device=first.device)
    return (places >= first.unsqueeze(-1)) & (places < first.unsqueeze(-1) + side)
