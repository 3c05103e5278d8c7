"""Kernel two-sample statistics: MMD^2, its null variance, and how many draws tell two laws apart.

Gretton, Borgwardt, Rasch, Schoelkopf and Smola, "A kernel two-sample test", JMLR 13 (2012): Eq. 5 is
`v_statistic`, Eq. 3 `u_statistic`, and section 5 the permutation test.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

LEVEL_QUANTILE, POWER_QUANTILE = 1.6448536269514722, 0.8416212335729143
"""Normal quantiles of a one-sided level of 5 % and of a power of 80 %."""


def v_statistic(xx: Tensor, yy: Tensor, xy: Tensor, m: int, n: int) -> Tensor:
    """MMD^2 with all pairs, those of a draw with itself too; its mean is (1 - kbar) (1/m + 1/n) for one law.

    kbar is E k(x, x') over independent draws, and k(x, x) = 1.

    Args:
        xx: sum of the kernel over all ordered pairs of the m draws x, a draw with itself included.
        yy: the same of the n draws y.
        xy: sum over all pairs of an x and a y.
        m, n: number of draws.
    """
    return xx / m**2 + yy / n**2 - 2.0 * xy / (m * n)


def u_statistic(xx: Tensor, yy: Tensor, xy: Tensor, m: int, n: int) -> Tensor:
    """MMD^2 without the pairs of a draw with itself: no bias, and so at times negative.

    The arguments are those of `v_statistic`, with k(x, x) = 1. NaN where one side has a single draw.
    """
    if min(m, n) < 2:
        return torch.full_like(xx, torch.nan)
    return (xx - m) / (m * (m - 1)) + (yy - n) / (n * (n - 1)) - 2.0 * xy / (m * n)


def centred_second_moment(gram: Tensor) -> Tensor:
    """E k~(x, x')^2 of the centred kernel over independent draws, without bias, from ``(n, n)`` to a scalar.

    k~(x, x') = k - E k(x, .) - E k(., x') + E k. The U-centred matrix of Szekely and Rizzo, "Partial
    distance correlation", Annals of Statistics 42 (2014), Eq. 3.1 and Proposition 1.
    """
    n = len(gram)
    if n < 4:
        return torch.full((), torch.nan, dtype=gram.dtype, device=gram.device)
    own = torch.eye(n, dtype=torch.bool, device=gram.device)
    gram = gram.masked_fill(own, 0.0)
    rows, total = gram.sum(-1), gram.sum()
    centred = gram - (rows.unsqueeze(-1) + rows) / (n - 2) + total / ((n - 1) * (n - 2))
    return centred.masked_fill(own, 0.0).square().sum() / (n * (n - 3))


def null_sd(second_moment: Tensor, m: int, n: int) -> Tensor:
    """Standard deviation of `u_statistic` where both sides have one law.

    With k centred, which changes nothing, the sums over xx, yy and xy are uncorrelated and so are their
    terms, each of variance E k~^2: Var = (2 / (m (m - 1)) + 2 / (n (n - 1)) + 4 / (m n)) E k~^2. For
    m = n this is Var = 2 / (n (n - 1)) E h^2 of Gretton et al., E h^2 = 4 E k~^2, plus the paired terms
    that their h leaves out.
    """
    if min(m, n) < 2:
        return torch.full_like(second_moment, torch.nan)
    return (second_moment * (2 / (m * (m - 1)) + 2 / (n * (n - 1)) + 4 / (m * n))).sqrt()


def samples_apart(mmd: Tensor, second_moment: Tensor) -> Tensor:
    """Independent draws on each side for a 5 % test to tell two laws at MMD^2 `mmd` apart with power 80 %.

    The n where (z_0.95 + z_0.80) null_sd(n) = mmd; null_sd(n)^2 = 8 E k~^2 / (n - 1/4)^2 (1 + O(1/n^2)).
    It takes the statistic to be normal with one variance under both laws, which a spectrum of many
    directions makes nearly true; where one direction holds all of the difference the power is less.

    Returns:
        At least 2, whole numbers as float64; NaN where `mmd` is not positive: no number tells them apart.
    """
    wanted = (LEVEL_QUANTILE + POWER_QUANTILE) * (8.0 * second_moment).sqrt() / mmd + 0.25
    return torch.where(mmd > 0, wanted.ceil().clamp(min=2.0), torch.nan)


def permutation_p_value(gram: Tensor, m: int, permutations: int, generator: torch.Generator) -> float:
    """Share of relabellings whose `u_statistic` is at least that of the first `m` draws against the others.

    The relabelling as it is counts as one, so that under one law P(p <= a) <= a at any size.

    Args:
        gram: kernel between all draws of both sides, ``(m + n, m + n)``, with ones on the diagonal.
        m: number of draws of the first side.
        permutations: number of random relabellings.
        generator: on the CPU.
    """
    size = len(gram)
    labels = torch.zeros((permutations + 1, size), dtype=gram.dtype)
    labels[0, :m] = 1.0
    for row in labels[1:]:
        row[torch.randperm(size, generator=generator)[:m]] = 1.0
    labels = labels.to(gram.device)
    against, total = labels @ gram, gram.sum()
    xx = (against * labels).sum(-1)
    xy = against.sum(-1) - xx
    statistics = u_statistic(xx, total - xx - 2.0 * xy, xy, m, size - m)
    # Equal up to rounding counts as equal.
    at_least = statistics >= statistics[0] - 1e-12 * math.sqrt(size)
    return float(at_least.double().mean())
