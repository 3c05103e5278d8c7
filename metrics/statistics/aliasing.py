"""Whether every second, fourth, .. step of chains looks slower than they are, as where they have a period.

With S(f) the spectrum of a series, of mean 1, its integrated autocorrelation time is S(0). Of every s-th step
that time is, in steps, the sum of S(k / s) over k = 0 .. s - 1: the terms beside S(0) are those that turn s
times round between two kept steps and look like none. Their mean is 1 for independent draws, and at most 1
for every chain whose autocovariance is a mixture of lambda^t with lambda >= 0, as of reversible chains
without negative eigenvalues. Above 1 there is a motion to and fro, or round and round.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TURNS = (8, 64)
"""Kept steps in a block. What turns s times in s steps but for a part of a turn in a block counts as well:
with few steps what is soon forgotten is seen, with many what is a small part of the whole."""

TWICE, CHANCE = 2.0, 5.0
"""The mean must be that many times the one of independent draws, and above it by so many standard errors."""


def strides(rows: int) -> list[int]:
    """Those of which so many successive rows can tell: 2, 4, 8, .. up to an eighth of the rows."""
    return [2**power for power in range(1, rows.bit_length()) if TURNS[0] * 2**power <= rows]


def slow_strides(parts: Tensor) -> Tensor:
    """Which of `strides` look slower than the series is, ``(strides,)``, bool, by blocks of any length.

    Args:
        parts: the series of a few numbers of each chain, ``(rows, numbers, chains)``; their means are not
            large beside what they differ by.
    """
    rows, _, chains = parts.shape
    mean = parts.mean((0, 2), dtype=torch.float64)
    variance = (parts.square().mean((0, 2), dtype=torch.float64) - mean.square()).sum()
    mean, found = mean.repeat_interleave(chains), []
    for stride in strides(rows):
        sums, turns, flags = parts.flatten(1), 1, []
        for more in TURNS:
            if more * stride <= rows:
                sums, turns = _block_sums(sums, more // turns, stride), more
                flags.append(_looks_slow(sums.double() / turns - mean, variance, stride, turns, chains))
        found.append(torch.stack(flags).any())
    return torch.stack(found) if found else variance.new_zeros(0, dtype=torch.bool)


def _block_sums(series: Tensor, turns: int, stride: int) -> Tensor:
    """Sums of `turns` rows at each place of the stride, ``(blocks * stride, n)``, of ``(rows, n)``."""
    blocks = len(series) // (turns * stride)
    return series[: blocks * turns * stride].reshape(blocks, turns, -1).sum(1).reshape(blocks * stride, -1)


def _looks_slow(means: Tensor, variance: Tensor, stride: int, turns: int, chains: int) -> Tensor:
    """Whether every `stride`-th row of a series looks slower than it is, a bool scalar.

    The terms beside S(0) must also exceed S(0) together: a slow chain may swing a little. Both are estimated
    from blocks of rows, by the means of the rows at each place of the stride: those of a block differ by what
    turns round in a stride, and those of all blocks by what is slow. The former are a multiple of chi squared
    of independent draws, whose quantile is that of Wilson and Hilferty (1931).

    Args:
        means: of the rows at each place of each block, less those of all rows,
            ``(blocks * stride, numbers * chains)``.
        variance: of all numbers together, a scalar.
        turns: rows at each place of the stride in a block.
    """
    blocks = len(means) // stride
    places = means.reshape(blocks, stride, -1)
    whole = places.mean(1, keepdim=True)
    turning = turns * (places - whole).square().sum() / (blocks * chains)
    slow = turns * stride * whole.square().sum() / (blocks * chains)
    part_of = 2.0 / (9.0 * blocks * chains * (stride - 1))
    chance = (1.0 - part_of + CHANCE * math.sqrt(part_of)) ** 3
    return (turning > max(TWICE, chance) * (stride - 1) * variance) & (turning > slow)
