"""How long a sweep still takes, from the counts of its runs."""

from __future__ import annotations

import pytest

from runner.execution.progress import left_after


@pytest.mark.parametrize(
    ("counts", "now", "left"),
    [
        ([(0, 100.0), (1, 130.0)], 130.0, 30.0 * 15),
        ([(0, 0.0), (4, 40.0), (8, 80.0)], 80.0, 80.0),
        ([(0, 0.0), (4, 40.0), (8, 80.0)], 120.0, 160.0),
        ([(0, 0.0), (1, 1000.0), (2, 1010.0), (4, 1030.0), (8, 1070.0)], 1070.0, 80.0),
        ([(12, 0.0), (13, 30.0)], 30.0, 90.0),
        ([(0, 0.0), (16, 5.0)], 5.0, 0.0),
    ],
    ids=["the first run", "steady", "nothing since", "after a pause", "most done before", "done"],
)
def test_the_time_left_is_that_of_the_last_half(
    counts: list[tuple[int, float]], now: float, left: float
) -> None:
    assert left_after(counts, 16, now) == pytest.approx(left)
