"""The jackknife: a function of means and its standard error, from blocks of correlated draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FEWEST_BLOCKS = 20

Estimate = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def jackknife(moments: NDArray[np.float64], estimate: Estimate) -> tuple[float, float]:
    """`estimate` of the means over all draws, and its standard error from leaving out each block in turn.

    Each chain is a block; where there are fewer than 20 chains, each is cut into equally long blocks so that
    there are 20 or more. Draws of a block may be correlated in any way, and blocks should be much longer
    than the autocorrelation time.

    Source: Efron and Stein (1981), Eq. 1.4.

    Args:
        moments: what is averaged, ``(k, draws, chains)``.
        estimate: of means ``(k, *batch)``, giving ``(*batch)``.

    Returns:
        NaN as the error if there are fewer draws than blocks.
    """
    _, draws, chains = moments.shape
    parts = -(-FEWEST_BLOCKS // chains)
    value = float(estimate(moments.mean((1, 2))))
    length = draws // parts
    if not length:
        return value, float("nan")
    whole = moments[:, draws - parts * length :]
    blocks = whole.reshape(len(moments), parts, length, chains).mean(2).reshape(len(moments), -1)
    number = blocks.shape[1]
    left = estimate((blocks.sum(1, keepdims=True) - blocks) / (number - 1))
    return value, float(np.sqrt((number - 1) / number * np.square(left - left.mean()).sum()))
