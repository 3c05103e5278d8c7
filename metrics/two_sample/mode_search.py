"""Mode search: a local maximum of U near the data, the start of mode-start runs (PT-DLP v2, Figure 3)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from targets.target import Target

IMAGES_AT_ONCE = 4096


@torch.no_grad()
def find_mode(target: Target, images: Tensor) -> Tensor:
    """The local maximum of U that greedy single-bit flips reach from the most probable of `images`.

    Each iteration flips the bit that increases U most, until no flip does. It is computed in float64 for any
    dtype of the target, so that rounding cannot cause a cycle.

    Args:
        target: a binary target of d coordinates.
        images: zeros and ones, ``(images, d)``, at least one.

    Returns:
        ``(1, d)``, with the dtype and device of `target`.

    Raises:
        ValueError: if there are no images, or they do not have d pixels.
    """
    d = target.space.d
    if images.dim() != 2 or images.shape[1] != d or not len(images):
        raise ValueError(f"images must have {d} pixels, the shape {tuple(images.shape)} was given")
    like = target.like()
    exact = copy.deepcopy(target).double()
    images = images.to(like.device)
    energies = [exact.log_prob(part.double()) for part in torch.split(images, IMAGES_AT_ONCE)]
    state = images[torch.cat(energies).argmax()].double()
    while True:
        neighbours = state.expand(d + 1, d).clone()
        neighbours[:d].diagonal().mul_(-1.0).add_(1.0)
        log_prob = exact.log_prob(neighbours)
        best = int(log_prob[:d].argmax())
        if log_prob[best] <= log_prob[d] + 1e-10 * log_prob[d].abs().clamp(min=1.0):
            return state.unsqueeze(0).to(like.dtype)
        state = neighbours[best]
