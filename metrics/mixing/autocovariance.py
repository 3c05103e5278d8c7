"""Autocovariances of many chains, averaged over them."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray


def mean_autocovariance(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """The autocovariances at the lags 0 .. draws - 1 of chains ``(chains, draws)`` of mean 0, averaged.

    The sum over the pairs of a lag is divided by the number of draws, not of pairs, which biases large lags
    to 0. The spectra are averaged before they are transformed back, once for all chains.
    """
    number, draws = centred.shape
    size = _fast_length(2 * draws)
    spectrum = torch.fft.rfft(torch.from_numpy(centred), size).numpy()
    power = np.einsum("cf,cf->f", spectrum.real, spectrum.real)
    power += np.einsum("cf,cf->f", spectrum.imag, spectrum.imag)
    found: NDArray[np.float64] = torch.fft.irfft(torch.from_numpy(power), size).numpy()[:draws]
    found /= draws * number
    return found


def _fast_length(least: int) -> int:
    """The least of 1, 3, 5, 9 and 15 times a power of two that is not below `least`: fast to transform."""
    return min(factor << max(0, math.ceil(math.log2(least / factor))) for factor in (1, 3, 5, 9, 15))
