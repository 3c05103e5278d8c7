"""Measures of a reconstruction against loops over pixels and scikit-image; what is done to test images."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.applications.reconstruction import (
    ConvolutionalAutoencoder,
    noisy,
    occluded,
    pixel_log_likelihood,
    psnr,
    squared_error,
    ssim,
    window_of,
)
from targets.randomness import Streams

SIZES = [(13, 14), (8, 8), (12, 9)]


def pair(height: int, width: int, n: int = 5) -> tuple[Tensor, Tensor]:
    """Binary images and grey ones that look like them, float64."""
    generator = torch.Generator().manual_seed(height)
    clean = (torch.rand(n, height, width, generator=generator, dtype=torch.float64) < 0.3).double()
    made = 0.7 * clean + 0.3 * torch.rand(clean.shape, generator=generator, dtype=torch.float64)
    return clean, made


def slow_ssim(x: NDArray[np.float64], y: NDArray[np.float64], side: int, sigma: float) -> float:
    """SSIM of two images as its definition reads: window by window, with weighted moments."""
    offsets = np.arange(side) - side // 2
    w = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * sigma**2))
    w, values = w / w.sum(), []
    for top, left in np.ndindex(x.shape[0] - side + 1, x.shape[1] - side + 1):
        a, b = x[top : top + side, left : left + side], y[top : top + side, left : left + side]
        mean_a, mean_b = (w * a).sum(), (w * b).sum()
        var_a, var_b = (w * (a - mean_a) ** 2).sum(), (w * (b - mean_b) ** 2).sum()
        both = (w * (a - mean_a) * (b - mean_b)).sum()
        above = (2 * mean_a * mean_b + 1e-4) * (2 * both + 9e-4)
        values.append(above / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4)))
    return float(np.mean(values))


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_every_measure_is_what_a_loop_over_pixels_gives(height: int, width: int) -> None:
    clean, made = pair(height, width)
    logits = made.clamp(1e-3, 1 - 1e-3).logit()
    probability = logits.sigmoid()
    window = window_of(height, width)
    for place in range(len(clean)):
        x, y, p = (part[place].tolist() for part in (clean, made, probability))
        cells = [(x[i][j], y[i][j], p[i][j]) for i in range(height) for j in range(width)]
        error = sum((a - b) ** 2 for a, b, _ in cells) / len(cells)
        likelihood = sum(math.log(c if a == 1 else 1 - c) for a, _, c in cells) / len(cells)
        assert float(squared_error(clean, made)[place]) == pytest.approx(error, rel=1e-12)
        assert float(psnr(clean, made)[place]) == pytest.approx(10 * math.log10(1 / error), rel=1e-12)
        assert float(pixel_log_likelihood(clean, logits)[place]) == pytest.approx(likelihood, rel=1e-12)
        assert float(ssim(clean, made)[place]) == pytest.approx(
            slow_ssim(np.array(x), np.array(y), *window), rel=1e-10
        )


def test_ssim_and_psnr_are_those_of_scikit_image() -> None:
    library = pytest.importorskip("skimage.metrics")
    clean, made = pair(28, 28)
    for place in range(len(clean)):
        x, y = clean[place].numpy(), made[place].numpy()
        expected = library.structural_similarity(
            x, y, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
        )
        assert float(ssim(clean, made)[place]) == pytest.approx(expected, rel=1e-10)
        expected = library.peak_signal_noise_ratio(x, y, data_range=1.0)
        assert float(psnr(clean, made)[place]) == pytest.approx(expected, rel=1e-12)


def test_the_image_itself_is_the_best_reconstruction() -> None:
    clean, made = pair(28, 28)
    assert ssim(clean, clean).tolist() == pytest.approx([1.0] * 5, abs=1e-12)
    assert (ssim(clean, made) < 1).all()
    assert psnr(clean, clean).isinf().all()
    certain = torch.where(clean > 0, 1e4, -1e4).double()
    assert pixel_log_likelihood(clean, certain).tolist() == [0.0] * 5
    assert pixel_log_likelihood(clean, -certain).isfinite().all()


@pytest.mark.parametrize(
    ("size", "window"),
    [((28, 28), 11), ((12, 12), 11), ((11, 40), 9), ((9, 9), 7), ((8, 8), 7), ((4, 9), 3)],
)
def test_the_window_shrinks_with_the_image(size: tuple[int, int], window: int) -> None:
    found, sigma = window_of(*size)
    assert found == window
    assert found % 2 == 1
    assert min(size) - found >= 1
    assert sigma == pytest.approx(1.5 * window / 11)
    with pytest.raises(ValueError, match="at least 4 x 4 pixels, 3 x 9 was given"):
        window_of(3, 9)


def streams(seed: int = 0) -> Streams:
    return Streams([seed], "test")


def test_noise_has_its_deviation_and_stays_within_bounds() -> None:
    """60,000 numbers: the deviation of their standard deviation is 0.0003, 5 of them are the margin."""
    grey = torch.full((100, 20, 30), 0.5)
    found = noisy(grey, 0.1, streams())
    assert float((found - grey).std()) == pytest.approx(0.1, abs=0.0015)
    assert float((found - grey).mean()) == pytest.approx(0.0, abs=0.0021)
    ends = noisy(torch.tensor([0.0, 1.0]).repeat(50, 20, 10), 0.1, streams())
    assert ends.min() == 0
    assert ends.max() == 1
    assert 0.4 < float((ends == ends.round()).float().mean()) < 0.6, "half of the noise leads outside"
    assert torch.equal(noisy(grey, 0.1, streams()), found)
    assert not torch.equal(noisy(grey, 0.1, streams(1)), found)
    assert torch.equal(noisy(grey, 0.0, streams()), grey)


@pytest.mark.parametrize("side", [1, 3, 5])
def test_a_block_of_zeros_comes_to_every_place(side: int) -> None:
    """2,000 images, at most 50 places: one is missed with probability below 50 (49/50)^2000 < 2e-16."""
    height, width = 5, 10
    found = occluded(torch.ones(2000, height, width), side, streams())
    places = set()
    for image in found:
        rows, columns = (image == 0).nonzero().unbind(-1)
        assert len(rows) == side**2
        top, left = int(rows.min()), int(columns.min())
        assert int(rows.max()) == top + side - 1
        assert int(columns.max()) == left + side - 1
        places.add((top, left))
    assert len(places) == min(50, (height - side + 1) * (width - side + 1))
    with pytest.raises(ValueError, match="occlusion must fit into 5 x 10 pixels, 6 was given"):
        occluded(torch.ones(1, height, width), 6, streams())


@pytest.mark.parametrize(("height", "width"), [(28, 28), (8, 8), (4, 12)])
def test_the_autoencoder_gives_images_of_the_size_it_is_given(height: int, width: int) -> None:
    network = ConvolutionalAutoencoder()
    images = torch.rand(3, height, width)
    made = network(images)
    assert made.shape == images.shape
    assert bool(((made > 0) & (made < 1)).all())
    assert network.encoder(images.unsqueeze(1)).shape == (3, 32, height // 4, width // 4)
    torch.testing.assert_close(made, network.logits(images).sigmoid())
    assert sum(parameter.numel() for parameter in network.parameters()) == 160 + 4640 + 4624 + 145
