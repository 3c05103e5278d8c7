"""The jackknife: a function of means and its standard error, from blocks of correlated draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FEWEST_BLOCKS = 20

ROUNDING = 1e-12
"""Errors below this share of the estimate are those of sums in float64."""

Estimate = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def jackknife(moments: NDArray[np.float64], estimate: Estimate) -> tuple[float, float]:
    """`estimate` of the means over all draws, and its standard error from leaving out each block in turn.

    Each chain is a block. Where there are fewer than 20 chains, each is cut into equally long blocks so that
    there are 20 or more; the error is then the larger one of these blocks and of whole chains (of two or
    more), since blocks of a chain that has not mixed are alike. Draws of a block may be correlated in any
    way, and blocks should be much longer than the autocorrelation time.

    Source: Efron and Stein (1981), Eq. 1.4.

    Args:
        moments: what is averaged, ``(k, draws, chains)``.
        estimate: of means ``(k, *batch)``, giving ``(*batch)``.

    Returns:
        NaN as the error if there are fewer draws than blocks, 0 if it is one of rounding.
    """
    _, draws, chains = moments.shape
    parts = -(-FEWEST_BLOCKS // chains)
    value = float(estimate(moments.mean((1, 2))))
    length = draws // parts
    if not length:
        return value, float("nan")
    whole = moments[:, draws - parts * length :]
    blocks = whole.reshape(len(moments), parts, length, chains).mean(2)
    error = _error(blocks.reshape(len(moments), -1), estimate)
    if parts > 1 and chains > 1:
        error = max(error, _error(blocks.mean(1), estimate))
    return value, error if error > ROUNDING * abs(value) else 0.0


def _error(blocks: NDArray[np.float64], estimate: Estimate) -> float:
    """Standard error of `estimate` from the means of blocks ``(k, blocks)``."""
    number = blocks.shape[1]
    left = estimate((blocks.sum(1, keepdims=True) - blocks) / (number - 1))
    return float(np.sqrt((number - 1) / number * np.square(left - left.mean()).sum()))
