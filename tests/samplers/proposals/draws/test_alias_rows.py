"""Rows as columns of two indices, against the distributions that they were made from."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers.proposals.draws import alias_rows
from samplers.proposals.draws.alias_rows import AliasRows

ROWS = 60


def probabilities(length: int) -> Tensor:
    """Uneven rows, with zeros; the first are uniform and at one index."""
    generator = torch.Generator().manual_seed(length)
    weights = torch.rand((ROWS, length), generator=generator, dtype=torch.float64).pow(8)
    weights[:, 1 : length // 2] = 0.0
    weights[:3] = 0.0
    weights[0], weights[1, 0], weights[2, -1] = 1.0, 1.0, 1.0
    return weights / weights.sum(-1, keepdim=True)


def sums_of(rows: Tensor, dtype: torch.dtype) -> Tensor:
    sums = rows.cumsum(-1)
    return (sums / sums[:, -1:]).to(dtype)


def probabilities_of(rows: AliasRows) -> Tensor:
    """What a uniform number gives: each column has the probability 1 / length."""
    columns = rows.columns.double().reshape(-1, rows.length)
    other = columns.floor()
    share = columns - other
    return (share / rows.length).scatter_add(-1, other.long(), (1.0 - share) / rows.length)


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-14), (torch.float32, 5e-6)])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 101, 128])
def test_the_columns_have_the_distributions(
    monkeypatch: pytest.MonkeyPatch, length: int, dtype: torch.dtype, within: float
) -> None:
    monkeypatch.setattr(alias_rows, "TOGETHER", 17 * length)  # several parts, the last one smaller
    expected = probabilities(length)
    found = probabilities_of(AliasRows(sums_of(expected, dtype)))
    assert 0.5 * (found - expected).abs().sum(-1).max() <= within
    assert (found[expected == 0.0] == 0.0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("length", [1, 3, 101])
def test_evenly_spaced_points_draw_each_index_as_often_as_its_probability(
    length: int, dtype: torch.dtype
) -> None:
    expected, points = probabilities(length), 4096
    rows = AliasRows(sums_of(expected, dtype))
    row = torch.arange(ROWS).repeat_interleave(points)
    point = ((torch.arange(points, dtype=torch.float64) + 0.5) / points).to(dtype).repeat(ROWS)
    counts = torch.zeros((ROWS, length)).index_put_(
        (row, rows.drawn(row, point)), torch.ones(()), accumulate=True
    )
    # An index has parts of at most `length` columns; points at both ends of a part are one too many or few.
    assert (counts - points * expected).abs().max() <= 2 * length


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_largest_point_draws_an_index(dtype: torch.dtype) -> None:
    largest = torch.ones(1, dtype=dtype).nextafter(torch.zeros(1, dtype=dtype))
    for length in range(1, 300):
        rows = AliasRows(sums_of(torch.full((1, length), 1 / length, dtype=torch.float64), dtype))
        assert 0 <= rows.drawn(torch.zeros(1, dtype=torch.int64), largest).item() < length
