"""Quality of reconstructed images: squared error, PSNR, SSIM, and log-likelihood of the pixels.

All functions take the original images `clean` and the reconstructions `made`, ``(n, height, width)`` from 0
to 1, and return one number per image, ``(n,)``. The mean of PSNRs is not the PSNR of the mean error.
"""

from __future__ import annotations

import torch
from torch import Tensor

WINDOW, SIGMA = 11, 1.5
"""Of the Gaussian that SSIM weighs neighbours with, in pixels (Wang et al. 2004)."""
K1, K2 = 0.01, 0.03


def squared_error(clean: Tensor, made: Tensor) -> Tensor:
    """Mean squared error over the pixels of each image."""
    return (clean - made).square().mean((-2, -1))


def psnr(clean: Tensor, made: Tensor) -> Tensor:
    """Peak signal-to-noise ratio of each image, 10 log10(1 / MSE), in decibels; infinite for zero error."""
    return -10 * squared_error(clean, made).log10()


def pixel_log_likelihood(clean: Tensor, logits: Tensor) -> Tensor:
    """Mean over pixels of log Bernoulli(clean; sigmoid(logits)), in nats; finite for finite logits."""
    return -torch.nn.functional.binary_cross_entropy_with_logits(logits, clean, reduction="none").mean(
        (-2, -1)
    )


def window_of(height: int, width: int) -> tuple[int, float]:
    """Width and sigma of SSIM's Gaussian window, in pixels: 11 and 1.5, or less for small images.

    For a small image the width is the largest odd number that fits at two positions or more along the shorter
    side, and sigma is scaled with it: 7 and 0.95 for 8 x 8 pixels. Values with different windows are not
    comparable.

    Raises:
        ValueError: if a side is shorter than 4 pixels.
    """
    side = min(height, width)
    if side < 4:
        raise ValueError(f"SSIM needs images of at least 4 x 4 pixels, {height} x {width} was given")
    window = min(WINDOW, side - 1 if side % 2 == 0 else side - 2)
    return window, SIGMA * window / WINDOW


def ssim(clean: Tensor, made: Tensor) -> Tensor:
    """Structural similarity of each image (Wang et al. 2004): mean of its map where the whole window fits.

    The definition is that of ``skimage.metrics.structural_similarity`` with ``gaussian_weights=True``,
    ``use_sample_covariance=False`` and ``data_range=1``.
    """
    height, width = clean.shape[-2:]
    window, sigma = window_of(height, width)
    down = _filter(height, window, sigma, clean)
    across = _filter(width, window, sigma, clean).T

    def smooth(images: Tensor) -> Tensor:
        return down @ images @ across

    mean_x, mean_y = smooth(clean), smooth(made)
    var_x = smooth(clean.square()) - mean_x.square()
    var_y = smooth(made.square()) - mean_y.square()
    covariance = smooth(clean * made) - mean_x * mean_y
    c1, c2 = K1**2, K2**2
    above = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    below = (mean_x.square() + mean_y.square() + c1) * (var_x + var_y + c2)
    return (above / below).mean((-2, -1))


def _filter(side: int, window: int, sigma: float, like: Tensor) -> Tensor:
    """The Gaussian at each place where it fits whole, ``(side - window + 1, side)``; rows sum to 1."""
    offsets = torch.arange(window, dtype=like.dtype, device=like.device) - window // 2
    weights = torch.exp(-offsets.square() / (2 * sigma**2))
    weights = weights / weights.sum()
    rows = torch.zeros((side - window + 1, side), dtype=like.dtype, device=like.device)
    for place in range(len(rows)):
        rows[place, place : place + window] = weights
    return rows
