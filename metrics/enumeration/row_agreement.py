"""Whether drawn counts follow the rows of a matrix: Pearson's chi-square, row by row.

Cells that are expected fewer than `FEWEST` times are taken together, the rarest first, and with the next
rarer ones until they are expected so often. What was drawn although it has no probability is no matter of
chance: its p-value is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import Tensor

FEWEST = 400.0
"""Draws that a cell is expected to have at least."""

ROUNDING = 1e-6
"""How far from 1 a row may sum; the p-value of one that is no distribution is 0."""

HEAVIER = 4.0
"""How much heavier the tail of the statistic can be than that of chi-square, with `FEWEST` draws a cell.

At p-values down to 1e-10; computed in the tests with Poisson counts, whose tail is heavier than that of the
multinomial ones.
"""


@dataclass(frozen=True)
class Agreement:
    """The smallest p-value of several rows.

    Attributes:
        smallest: as chi-square gives it, of one row; NaN if a probability is NaN.
        rows: number of rows that were tested.
    """

    smallest: float = 1.0
    rows: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        # Python's min() would pass over a NaN.
        return Agreement(float(np.minimum(self.smallest, other.smallest)), self.rows + other.rows)

    @property
    def p_value(self) -> float:
        """At most the probability that honest draws look as bad: Bonferroni over the rows, with `HEAVIER`.

        NaN if nothing was tested.
        """
        if self.rows == 0:
            return float("nan")
        return float(np.minimum(1.0, HEAVIER * self.rows * self.smallest))


def row_agreement(counts: Tensor, rows: Tensor) -> Agreement:
    """How well `counts` ``(rows, cells + 1)`` agree with the probabilities `rows` ``(rows, cells)``.

    The last cell is for what is no state: it has no probability.
    """
    agreement = Agreement()
    for drawn, probabilities in zip(counts.numpy(), rows.double().numpy(), strict=True):
        agreement += Agreement(_chi_square(drawn.astype(float), np.append(probabilities, 0.0)), 1)
    return agreement


def _chi_square(drawn: NDArray[np.float64], probabilities: NDArray[np.float64]) -> float:
    """The p-value of one row."""
    if np.isnan(probabilities).any():
        return float("nan")
    possible = probabilities > 0.0
    if drawn[~possible].any() or abs(probabilities.sum() - 1.0) > ROUNDING:
        return 0.0
    order = np.argsort(probabilities[possible])
    observed, expected = drawn[possible][order], probabilities[possible][order] * drawn.sum()
    rare = int((expected < FEWEST).sum())
    while 0 < rare < len(expected) and expected[:rare].sum() < FEWEST:
        rare += 1
    starts = np.r_[0, max(rare, 1) : len(expected)]
    observed, expected = np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
    if len(observed) < 2:
        return 1.0
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(observed) - 1))
