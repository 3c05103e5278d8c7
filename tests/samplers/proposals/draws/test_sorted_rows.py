"""Entries at most a point, in sorted rows, against torch's own search."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from samplers.proposals.draws import sorted_rows
from samplers.proposals.draws.sorted_rows import FEW, TOGETHER, SortedRows, _bisected


def distribution_functions(rows: int, length: int, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(length)
    weights = torch.rand((rows, length), generator=generator, dtype=torch.float64).pow(8)
    weights[:, 1 : length // 2] = 0.0  # equal neighbours in a row
    sums = weights.cumsum(-1)
    return (sums / sums[:, -1:]).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 15, 16, 101, 127, 128])
@pytest.mark.parametrize("searches", [5, FEW + 1, 2 * TOGETHER + 1])
def test_the_count_is_that_of_a_search_from_the_right(length: int, searches: int, dtype: torch.dtype) -> None:
    values = distribution_functions(40, length, dtype)
    rows, generator = SortedRows(values), torch.Generator().manual_seed(1)
    row = torch.randint(0, 40, (searches,), generator=generator)
    point = torch.rand(searches, generator=generator, dtype=dtype)
    point[::3] = values[row, torch.randint(0, length, (searches,), generator=generator)][::3]  # entries
    expected = torch.searchsorted(values[row], point.unsqueeze(-1), right=True).squeeze(-1)
    assert torch.equal(rows.at_most(row, point), expected)
    assert torch.equal(rows.values, values)


def test_numbers_below_and_above_all_entries_are_counted() -> None:
    rows = SortedRows(torch.tensor([[0.25, 0.5, 1.0], [0.0, 0.0, 1.0]]))
    row, point = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0.0, 0.25, 1.0, 0.0, -1.0])
    assert rows.at_most(row, point).tolist() == [0, 1, 3, 2, 0]


def test_a_search_of_many_parts_reads_the_lines_of_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[int] = []

    def bisected(table: torch.Tensor, start: torch.Tensor, *others: Any) -> torch.Tensor:
        looked_up.append(len(start))
        return _bisected(table, start, *others)

    monkeypatch.setattr(sorted_rows, "_bisected", bisected)
    rows = SortedRows(distribution_functions(40, 101, torch.float32))
    row, point = torch.zeros(TOGETHER + 1, dtype=torch.int64), torch.zeros(TOGETHER + 1)
    rows.at_most(row, point)
    assert looked_up == [TOGETHER, TOGETHER, 1, 1]


def test_places_of_64_bits_are_counted_likewise_and_the_given_rows_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of a table with more than 2^31 entries."""
    rows = SortedRows(distribution_functions(40, 101, torch.float32))
    row = torch.randint(0, 40, (FEW,), generator=torch.Generator().manual_seed(1))
    point, given = torch.full((FEW,), 0.5), row.clone()
    expected = rows.at_most(row, point)
    monkeypatch.setattr(rows, "_index", torch.int64)
    assert torch.equal(rows.at_most(row, point), expected)
    assert torch.equal(row, given)


def test_separators_are_every_so_many_entries() -> None:
    rows = SortedRows(distribution_functions(40, 101, torch.float32))
    assert rows.entries.shape == (40 * 104,)
    assert torch.equal(rows.separators.reshape(40, 16)[:, :13], rows.entries.reshape(40, 104)[:, ::8])
    assert rows.separators.reshape(40, 16)[:, 13:].isinf().all()
