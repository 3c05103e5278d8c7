"""The most likely mode of a data set under a model, where mode-start runs begin (PT-DLP v2, Figure 3)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from targets.target import Target

IMAGES_AT_ONCE = 4096


@torch.no_grad()
def likely_mode(target: Target, images: Tensor) -> Tensor:
    """The most likely of `images` under `target`, then single bits flipped while that raises U.

    Each round flips the one bit that raises U most, so the result is a local maximum: no state one flip
    away is more likely. In float64, whatever the target's type, so that rounding cannot make it go round.

    Args:
        target: a binary target of d coordinates.
        images: zeros and ones, ``(images, d)``, at least one.

    Returns:
        ``(1, d)``, with the dtype and device of `target`.

    Raises:
        ValueError: if there are no images, or none of d pixels.
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
