"""Reconstruction of images as the released code of EDLP does it (its rbm_sample.py and robustness.py).

What a network makes is compared with what it was given, the noise or the block of zeros included, not with
the clean image. Measures take `given` and `made`, ``(n, height, width)``, and return one number per image.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from metrics.applications.reconstruction import STRIDE, mean_similarity, occluded
from targets.randomness import Generator, uniform

CHANNELS, CODE = (32, 64), 128

DRAWN = 0.77
"""Share of a figure's side that Matplotlib's default axes take."""

SIDES = (5, 10)
"""Smallest and largest side of a block of zeros, in pixels."""

WINDOW = 7
"""Side of the window in which SSIM weighs all neighbours alike, in pixels."""


class PoolingAutoencoder(nn.Module):
    """Two 3 x 3 convolutions with max-pooling, a code of 128 numbers, and two dense layers; all but the last
    with ReLU. The last is linear: what it gives may leave [0, 1].

    Args:
        shape: height and width of the images, multiples of `STRIDE`.
    """

    def __init__(self, shape: tuple[int, int] = (28, 28)) -> None:
        super().__init__()
        first, second = CHANNELS
        size = second * (shape[0] // STRIDE) * (shape[1] // STRIDE)
        self.shape = shape
        self.first = nn.Conv2d(1, first, 3, padding=1)
        self.second = nn.Conv2d(first, second, 3, padding=1)
        self.dense = nn.Sequential(
            nn.Linear(size, CODE),
            nn.ReLU(),
            nn.Linear(CODE, size),
            nn.ReLU(),
            nn.Linear(size, shape[0] * shape[1]),
        )

    def forward(self, images: Tensor) -> Tensor:
        """The reconstruction of `images` ``(n, height, width)``, of the same shape."""
        # On a CPU pooling is ten times as fast with the channels last.
        seen = self.first(images.unsqueeze(1)).contiguous(memory_format=torch.channels_last)
        seen = self.second(nn.functional.max_pool2d(seen, 2).relu())
        seen = nn.functional.max_pool2d(seen, 2).relu()
        made: Tensor = self.dense(seen.flatten(1)).unflatten(1, self.shape)
        return made


def as_saved(images: Tensor) -> Tensor:
    """What the networks learn from: `images` ``(n, height, width)`` of zeros and ones, drawn and read again.

    The code saves each image as a figure of Matplotlib, one pixel for each of its own. The axes take 0.77 of
    its sides, so that of 28 x 28 pixels 21 x 21 are left, the nearest ones. They are read as 256 levels of
    grey and enlarged to the old size by bilinear interpolation.
    """
    height, width = images.shape[1:]
    rows, columns = (height - 1 - _drawn(height)).flip(0), _drawn(width)
    small = images[:, rows.to(images.device)][:, :, columns.to(images.device)]
    made = nn.functional.interpolate(small.unsqueeze(1), (height, width), mode="bilinear").squeeze(1)
    return (made * 255).round() / 255


def _drawn(side: int) -> Tensor:
    """The places of a side that Matplotlib draws; it counts rows from the bottom."""
    return ((torch.arange(int(DRAWN * side)) + 0.5) / DRAWN).long()


def occluded_at_random(images: Tensor, generator: Generator) -> Tensor:
    """`images` ``(n, height, width)``, each with a block of zeros whose side is uniform on `SIDES`."""
    smallest, largest = (min(side, *images.shape[1:]) for side in SIDES)
    drawn = uniform(generator, (1, len(images)), (1,), like=images.new_empty((), dtype=torch.float64))[0]
    sides = smallest + (drawn.squeeze(-1) * (largest + 1 - smallest)).long()
    return occluded(images, sides, generator)


def uniform_ssim(given: Tensor, made: Tensor) -> Tensor:
    """Structural similarity of each image with a uniform window, mean of the whole map, borders included.

    The definition is the mean of the map of ``skimage.metrics.structural_similarity`` with ``win_size=7``,
    ``use_sample_covariance=False`` and ``data_range=1``: images are mirrored at their borders.
    """
    return mean_similarity(given, made, *(_uniform_filter(side, given) for side in given.shape[-2:]))


def _uniform_filter(side: int, like: Tensor) -> Tensor:
    """Weights of the window at each place of a side, ``(side, side)``; rows sum to 1."""
    there = torch.arange(side).unsqueeze(-1) + torch.arange(WINDOW) - WINDOW // 2
    there = there % (2 * side)
    there = torch.minimum(there, 2 * side - 1 - there)
    weights = torch.zeros(side, side, dtype=torch.float64)
    weights.scatter_add_(1, there, torch.full(there.shape, 1 / WINDOW, dtype=torch.float64))
    return weights.to(like)


def mean_residual(given: Tensor, made: Tensor) -> Tensor:
    """Mean over the pixels of `given` less `made`; the code calls it a log-likelihood."""
    return (given - made).mean((-2, -1))
