"""Drawn counts against rows of a matrix: chi-square, the pooling of rare cells, the tail, corrections."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chi2, chisquare, poisson

from metrics.enumeration.row_agreement import FEWEST, HEAVIER, Agreement, row_agreement

ROW = torch.tensor([[0.5, 0.3, 0.2, 0.0]], dtype=torch.float64)


def test_a_row_has_the_p_value_of_pearsons_test() -> None:
    counts = torch.tensor([[5100, 2950, 1950, 0, 0]])
    agreement = row_agreement(counts, ROW)
    expected = chisquare([5100, 2950, 1950], [5000, 3000, 2000]).pvalue
    assert agreement.smallest == pytest.approx(expected)
    assert (agreement + agreement + agreement).p_value == pytest.approx(min(1.0, 3 * HEAVIER * expected))


def test_rare_cells_are_taken_together() -> None:
    """Expected 300, 200, 100 and 400 of 10,000: the first three are 600 together."""
    rows = torch.tensor([[0.03, 0.02, 0.01, 0.04, 0.9]], dtype=torch.float64)
    expected = chisquare([660, 380, 8960], [600, 400, 9000]).pvalue
    for rare in ([330, 220, 110], [660, 0, 0]):
        counts = torch.tensor([[*rare, 380, 8960, 0]])
        assert row_agreement(counts, rows).smallest == pytest.approx(expected)
    # 100 alone are too few; the next rarer cell joins.
    rows = torch.tensor([[0.01, 0.04, 0.95]], dtype=torch.float64)
    expected = chisquare([520, 9480], [500, 9500]).pvalue
    assert row_agreement(torch.tensor([[120, 400, 9480, 0]]), rows).smallest == pytest.approx(expected)


@pytest.mark.parametrize("counts", [[5000, 3000, 1999, 1, 0], [5000, 3000, 1999, 0, 1]])
def test_what_is_impossible_is_no_chance(counts: list[int]) -> None:
    """A state without probability, and what is no state at all."""
    assert row_agreement(torch.tensor([counts]), ROW).p_value == 0.0


def test_a_row_that_is_no_distribution_is_not_followed() -> None:
    """Also where all cells are so rare that they are taken together."""
    assert row_agreement(torch.tensor([[40, 30, 30, 0, 0]]), ROW).p_value == 1.0
    assert row_agreement(torch.tensor([[40, 30, 30, 0, 0]]), 0.2 * ROW).p_value == 0.0


def test_a_certain_state_agrees_and_nan_does_not() -> None:
    certain = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    assert row_agreement(torch.tensor([[10, 0, 0]]), certain).p_value == 1.0
    nan = row_agreement(torch.tensor([[10, 0, 0]]), certain * torch.nan)
    assert np.isnan((Agreement(0.5, 1) + nan + Agreement(0.5, 1)).p_value)
    assert np.isnan(Agreement().p_value)


@pytest.mark.parametrize("cells", [1, 2, 8])
@pytest.mark.parametrize("expected", [FEWEST, 1000.0])
def test_the_tail_is_at_most_so_much_heavier(expected: float, cells: int) -> None:
    """The exact tail of sum (X - e)^2 / e of Poisson counts, rounded up to a grid of 0.02."""
    grid, end = 0.02, 4_500
    counts = np.arange(int(expected + 20 * np.sqrt(expected)))
    steps = np.minimum(np.ceil((counts - expected) ** 2 / expected / grid), end).astype(int)
    one = np.bincount(steps, weights=poisson.pmf(counts, expected), minlength=end + 1)
    total = np.ones(1)
    for _ in range(cells):
        total = np.convolve(total, one)
        total = np.append(total[:end], total[end:].sum()) if len(total) > end else total
    for level in (1e-4, 1e-6, 1e-8, 1e-10):
        first = int(chi2.isf(level, cells) / grid) + 1
        assert level * 0.9 < total[first:].sum() < HEAVIER * level
