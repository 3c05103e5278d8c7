"""Reconstruction of images (EDLP, section 6.3): autoencoder, degraded test images, measures of quality.

All measures take the original images `clean` and the reconstructions `made`, ``(n, height, width)`` from 0 to
1, and return one number per image, ``(n,)``. The mean of PSNRs is not the PSNR of the mean error.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from targets.randomness import Generator, normal, uniform

CHANNELS = (16, 32)
STRIDE = 4
"""Each of the two convolutions halves a side, so the sides of an image must be multiples of 4."""

WINDOW, SIGMA = 11, 1.5
"""Of the Gaussian that SSIM weighs neighbours with, in pixels (Wang et al. 2004)."""
K1, K2 = 0.01, 0.03


class ConvolutionalAutoencoder(nn.Module):
    """Two 3 x 3 convolutions of stride 2 with ReLU, mirrored by two transposed ones; sigmoid at the end.

    The paper says only "a simple convolutional autoencoder": layers, channels, strides and code are ours.

    Args:
        code: size of the code of an image: one more convolution over the whole feature map, without a
            nonlinearity, and its mirror image. None: the feature map is the code, 2 h w numbers for an image
            of h x w pixels, so that the architecture does not force compression.
        shape: height and width of the images, multiples of `STRIDE`; read only with a `code`.
    """

    def __init__(self, code: int | None = None, shape: tuple[int, int] = (28, 28)) -> None:
        super().__init__()
        first, second = CHANNELS
        layers: list[nn.Module] = [
            nn.Conv2d(1, first, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, second, 3, stride=2, padding=1),
            nn.ReLU(),
        ]
        mirrored: list[nn.Module] = [
            nn.ConvTranspose2d(second, first, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(first, 1, 3, stride=2, padding=1, output_padding=1),
        ]
        if code is not None:
            whole = (shape[0] // STRIDE, shape[1] // STRIDE)
            layers.append(nn.Conv2d(second, code, whole))
            mirrored = [nn.ConvTranspose2d(code, second, whole), nn.ReLU(), *mirrored]
        self.encoder, self.decoder = nn.Sequential(*layers), nn.Sequential(*mirrored)

    def logits(self, images: Tensor) -> Tensor:
        """Logits of the reconstruction of `images` ``(n, height, width)``, of the same shape."""
        made: Tensor = self.decoder(self.encoder(images.unsqueeze(1)))
        return made.squeeze(1)

    def forward(self, images: Tensor) -> Tensor:
        """The reconstruction of `images` ``(n, height, width)``, of the same shape, from 0 to 1."""
        return self.logits(images).sigmoid()


def noisy(images: Tensor, factor: float, generator: Generator) -> Tensor:
    """`images` ``(n, height, width)`` plus `factor` times standard normal noise, clipped to [0, 1]."""
    noise = normal(generator, (1, len(images)), images.shape[1:], like=images)[0]
    return (images + factor * noise).clamp(0, 1)


def occluded(images: Tensor, side: int | Tensor, generator: Generator) -> Tensor:
    """`images` ``(n, height, width)``, each with a square block of zeros at a uniform position.

    Args:
        side: of the block, in pixels: one for all images or one for each, ``(n,)``.

    Raises:
        ValueError: if a block is larger than the image.
    """
    height, width = images.shape[1:]
    sides = torch.as_tensor(side, device=images.device).expand(len(images)).unsqueeze(-1)
    if int(sides.max()) > min(height, width):
        raise ValueError(f"occlusion must fit into {height} x {width} pixels, {int(sides.max())} was given")
    places = uniform(generator, (1, len(images)), (2,), like=images.new_empty((), dtype=torch.float64))[0]
    span = torch.tensor([height + 1, width + 1], device=images.device) - sides
    top, left = (places * span).long().unbind(-1)
    rows, columns = _inside(top, sides, height), _inside(left, sides, width)
    return images.masked_fill(rows.unsqueeze(-1) & columns.unsqueeze(-2), 0.0)


def _inside(first: Tensor, sides: Tensor, length: int) -> Tensor:
    """Which of `length` positions are in ``[first, first + side)``: ``(n,)`` to bool ``(n, length)``."""
    places = torch.arange(length, device=first.device)
    return (places >= first.unsqueeze(-1)) & (places < first.unsqueeze(-1) + sides)


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
    return mean_similarity(clean, made, *(_filter(side, window, sigma, clean) for side in (height, width)))


def mean_similarity(clean: Tensor, made: Tensor, down: Tensor, across: Tensor) -> Tensor:
    """Mean of the map of structural similarity of each image.

    Args:
        down: weights of the rows that each row of the map looks at, ``(rows of the map, height)``.
        across: those of the columns, ``(columns of the map, width)``.
    """
    across = across.T

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
