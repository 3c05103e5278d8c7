"""Kernel two-sample statistics: MMD^2, its null variance, and the sample size that a test requires.

Of Gretton et al. (2012), Eq. 5 is `v_statistic`, Eq. 3 `u_statistic`, and section 5 the permutation test.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

LEVEL, POWER = 0.05, 0.8
"""Level and power of the test in `detection_constant`."""


def v_statistic(xx: Tensor, yy: Tensor, xy: Tensor, m: int, n: int) -> Tensor:
    """MMD^2 over all pairs, including those of a draw with itself.

    If both sides have the same distribution its mean is (1 - kbar) (1/m + 1/n), where kbar is E k(x, x') over
    independent draws and k(x, x) = 1.

    Args:
        xx: sum of the kernel over all ordered pairs of the m draws x, including a draw with itself.
        yy: the same for the n draws y.
        xy: sum over all pairs of an x and a y.
        m, n: number of draws.
    """
    return xx / m**2 + yy / n**2 - 2.0 * xy / (m * n)


def u_statistic(xx: Tensor, yy: Tensor, xy: Tensor, m: int, n: int) -> Tensor:
    """MMD^2 without the pairs of a draw with itself: unbiased, and therefore sometimes negative.

    The arguments are those of `v_statistic`, with k(x, x) = 1. NaN if one side has a single draw.
    """
    if min(m, n) < 2:
        return torch.full_like(xx, torch.nan)
    return u_statistic_given(xx, (yy - n) / (n * (n - 1)), xy, m, n)


def u_statistic_given(xx: Tensor, kbar: Tensor, xy: Tensor, m: int, n: int) -> Tensor:
    """`u_statistic` with `kbar` given as E k(y, y') over independent draws. NaN if m is 1."""
    if m < 2:
        return torch.full_like(xx, torch.nan)
    return (xx - m) / (m * (m - 1)) + kbar - 2.0 * xy / (m * n)


def u_centred(gram: Tensor) -> Tensor:
    """The U-centred matrix of a gram matrix ``(n, n)`` of independent draws, zero on the diagonal.

    k~(x, x') = k - E k(x, .) - E k(., x') + E k, estimated from the same draws: Szekely and Rizzo
    (2014), Eq. 3.1. NaN for fewer than 4 draws.
    """
    n = len(gram)
    if n < 4:
        return torch.full_like(gram, torch.nan)
    own = torch.eye(n, dtype=torch.bool, device=gram.device)
    gram = gram.masked_fill(own, 0.0)
    rows, total = gram.sum(-1), gram.sum()
    centred = gram - (rows.unsqueeze(-1) + rows) / (n - 2) + total / ((n - 1) * (n - 2))
    return centred.masked_fill(own, 0.0)


def centred_second_moment(gram: Tensor) -> Tensor:
    """Unbiased estimate of E k~(x, x')^2 of the centred kernel, from a gram matrix ``(n, n)``; a scalar.

    Szekely and Rizzo (2014), Proposition 1.
    """
    n = len(gram)
    return u_centred(gram).square().sum() / (n * (n - 3)) if n > 3 else gram.new_full((), torch.nan)


def null_sd(second_moment: Tensor, m: int, n: int) -> Tensor:
    """Standard deviation of `u_statistic` if both sides have the same distribution.

    With k centred, which does not change the statistic, the sums over xx, yy and xy are uncorrelated and so
    are their terms, each of variance E k~^2: Var = (2 / (m (m - 1)) + 2 / (n (n - 1)) + 4 / (m n)) E k~^2.
    For m = n this is Var = 2 / (n (n - 1)) E h^2 of Gretton et al., E h^2 = 4 E k~^2, plus the paired terms
    that their h omits.
    """
    if min(m, n) < 2:
        return torch.full_like(second_moment, torch.nan)
    return (second_moment * (2 / (m * (m - 1)) + 2 / (n * (n - 1)) + 4 / (m * n))).sqrt()


def detection_constant(gram: Tensor) -> float:
    """n MMD^2 for which a 5 % test with n draws on each side has power 80 %.

    With s^2 = E k~^2 the statistic has standard deviation s sqrt(8) / n under the null hypothesis (`null_sd`,
    m = n) and is distributed as a sum of l_i (chi^2_1 - 1) over the eigenvalues l_i of k~. Its 95 % quantile,
    z standard deviations, is taken from Pearson's type III distribution with the same skewness. Under the
    alternative the variance increases by 4 / n times the variances of the witness function on both sides,
    which are at most l_1 MMD^2. So n solves

        MMD^2 = z s sqrt(8) / n + z_0.80 sqrt(8 s^2 / n^2 + 8 l_1 MMD^2 / n),

    and n MMD^2 is the same for all MMD^2. Because of the bound by l_1 the power is 80 % if the distributions
    differ in the direction of the largest eigenvalue, and higher otherwise.

    Args:
        gram: kernel matrix ``(n, n)`` of independent draws from the reference sample.

    Returns:
        NaN for fewer than 4 draws.
    """
    if len(gram) < 4:
        return math.nan
    moment = float(centred_second_moment(gram))
    spectrum = (torch.linalg.eigvalsh(u_centred(gram)) / len(gram)).clamp(min=0.0)
    largest, cubes = float(spectrum[-1]), float((spectrum**3).sum())
    if moment <= 0.0 or largest <= 0.0:
        return math.nan
    skewness = 8.0 * cubes / (2.0 * moment) ** 1.5
    # The skewness is largest, sqrt(8), for a single non-zero eigenvalue.
    from scipy.stats import norm, pearson3  # takes half a second to import

    quantile = float(pearson3.ppf(1.0 - LEVEL, min(skewness, math.sqrt(8.0))))
    sd, power = math.sqrt(8.0 * moment), float(norm.ppf(POWER))
    square = sd**2 * (quantile**2 - power**2)
    linear = 2.0 * quantile * sd + 8.0 * power**2 * largest
    # The smaller root of square r^2 - linear r + 1, r = 1 / (n MMD^2), written without cancellation.
    return (linear + math.sqrt(linear**2 - 4.0 * square)) / 2.0


def required_sample_size(mmd: Tensor, detection_constant: float) -> Tensor:
    """Independent draws needed on each side to detect a squared distance `mmd`: level 5 %, power 80 %.

    Args:
        mmd: MMD^2 between the two distributions, any shape.
        detection_constant: `detection_constant` of the reference sample.

    Returns:
        Whole numbers of at least 2, float64, like `mmd`; NaN where `mmd` <= 0, as no sample size suffices.
    """
    return torch.where(mmd > 0, (detection_constant / mmd).ceil().clamp(min=2.0), torch.nan)


def permutation_p_value(gram: Tensor, m: int, permutations: int, generator: torch.Generator) -> float:
    """p-value of the permutation test that the first `m` draws and the others have the same distribution.

    The share of permutations whose `u_statistic` is at least the observed one. The identity is included, so
    that P(p <= a) <= a under the null hypothesis for any sample size.

    Args:
        gram: kernel between all draws of both sides, ``(m + n, m + n)``, with ones on the diagonal.
        m: number of draws of the first side.
        permutations: number of random permutations.
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
