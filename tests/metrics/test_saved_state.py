"""The accumulated state of a metric, read back from a checkpoint."""

from __future__ import annotations

from typing import cast

from torch import Tensor, zeros

from metrics.metric import Context, Statistic


class Mixed(Statistic):
    """A tensor and numbers of two types."""

    saved = ("total", "steps", "weight")

    def __init__(self) -> None:
        super().__init__(cast("Context", None))
        self.total: Tensor = zeros(2)
        self.steps, self.weight = 0, 0.0


def test_numbers_are_read_back_as_they_were() -> None:
    """A weight of 0.5 is not cut to 0, and a count stays a whole number."""
    one, other = Mixed(), Mixed()
    one.total += 1.5
    one.steps, one.weight = 3, 0.5
    other.load_state_dict(one.state_dict())
    assert (other.total.tolist(), other.steps, other.weight) == ([1.5, 1.5], 3, 0.5)
    assert isinstance(other.steps, int)
    one.total += 1
    assert other.total.tolist() == [1.5, 1.5]
