"""The reconstruction of EDLP's released code, against Matplotlib, Pillow, SciPy and scikit-image."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from skimage.metrics import structural_similarity
from torch import Tensor

from metrics.applications.reconstruction import occluded
from metrics.applications.released_reconstruction import (
    PoolingAutoencoder,
    as_saved,
    mean_residual,
    occluded_at_random,
    uniform_ssim,
)
from targets.randomness import Streams

SIDES = [28, 8]


def binary(side: int, n: int = 6) -> Tensor:
    generator = torch.Generator().manual_seed(side)
    return (torch.rand(n, side, side, generator=generator, dtype=torch.float64) < 0.3).double()


def drawn(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """An image saved as a figure of as many pixels, read in grey and resized to its old size."""
    height, width = image.shape
    figure = plt.figure(figsize=(width, height), dpi=1)
    plt.imshow(image, cmap="gray", interpolation="none")
    plt.axis("off")
    file = io.BytesIO()
    plt.savefig(file, bbox_inches="tight", pad_inches=0)
    plt.close(figure)
    grey = Image.open(file).convert("L").resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(grey) / 255.0


@pytest.mark.parametrize("side", SIDES)
def test_images_are_what_matplotlib_draws(side: int) -> None:
    """Pillow rounds between its two passes, which moves a pixel by one level of grey at most."""
    images = binary(side)
    saved = as_saved(images)
    for image, made in zip(images.numpy(), saved.numpy(), strict=True):
        assert np.abs(drawn(image) - made).max() <= 1.001 / 255
    assert ((saved > 0) & (saved < 1)).any()  # no longer black and white


@pytest.mark.parametrize("side", SIDES)
def test_ssim_is_the_mean_of_the_whole_map_of_scikit_image(side: int) -> None:
    given = binary(side)
    made = 0.7 * given + 0.4 * torch.rand(given.shape, generator=torch.Generator().manual_seed(1)).double()
    for place, found in enumerate(uniform_ssim(given, made)):
        _, similarity = structural_similarity(
            given[place].numpy(),
            made[place].numpy(),
            win_size=7,
            use_sample_covariance=False,
            data_range=1.0,
            full=True,
        )
        assert float(found) == pytest.approx(float(similarity.mean()), rel=1e-9)
    assert (mean_residual(given, made) - (given.mean((1, 2)) - made.mean((1, 2)))).abs().max() < 1e-12


def test_blocks_of_zeros_have_sides_of_5_to_10() -> None:
    images = torch.ones(3000, 28, 28, dtype=torch.float64)
    shown = occluded_at_random(images, Streams([0], "test", "cpu"))
    sides = ((1 - shown).sum((1, 2))).sqrt()
    assert torch.equal(sides, sides.round())
    counts = torch.bincount(sides.long(), minlength=11)
    assert counts[:5].sum() == 0
    assert (counts[5:] - 500).abs().max() < 5 * 500**0.5
    covered = (shown == 0).double().mean(0)
    assert covered[0, 0] > 0
    assert covered[-1, -1] > 0
    assert occluded_at_random(images[:4, :8, :8], Streams([0], "test", "cpu")).shape == (4, 8, 8)


def test_one_side_for_each_image() -> None:
    sides = torch.tensor([1, 5, 8])
    shown = occluded(torch.ones(3, 8, 8), sides, Streams([0], "test", "cpu"))
    assert (1 - shown).sum((1, 2)).tolist() == [1, 25, 64]
    with pytest.raises(ValueError, match="8 x 8 pixels, 9 was given"):
        occluded(torch.ones(2, 8, 8), torch.tensor([2, 9]), Streams([0], "test", "cpu"))


def test_the_network_has_the_released_layers() -> None:
    network = PoolingAutoencoder()
    sizes = [list(each.shape) for name, each in network.named_parameters() if name.endswith("weight")]
    assert sizes == [[32, 1, 3, 3], [64, 32, 3, 3], [128, 3136], [3136, 128], [784, 3136]]
    made = network(torch.rand(3, 28, 28))
    assert made.shape == (3, 28, 28)
    assert made.min() < 0  # linear at the end
    assert PoolingAutoencoder((8, 12))(torch.rand(2, 8, 12)).shape == (2, 8, 12)
