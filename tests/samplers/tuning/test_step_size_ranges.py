"""Kernels of one's own that take step sizes of a range alone are tuned, by themselves and in a ladder."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from samplers import DMALA, ParallelTempering
from samplers.kernel_family import EXAMPLES, first_built
from targets import Target
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import small_rbm
from tests.support.tunable import tunable


class Bounded(DMALA):
    """DMALA whose constructor refuses what `step_size_range` does not name."""

    low, high = 1e-3, 0.5

    def __init__(self, step_size: float | Tensor) -> None:
        given = torch.as_tensor(step_size)
        # float32 has not every end of a range
        if not bool(((given >= self.low * 0.999) & (given <= self.high * 1.001)).all()):
            raise ValueError(f"step_size must lie between {self.low} and {self.high}, {given} was given")
        super().__init__(step_size)

    def step_size_range(self, target: Target) -> tuple[float, float]:
        return self.low, self.high


class Large(Bounded):
    low, high = 3.0, 40.0


@pytest.mark.parametrize("cls", [Bounded, Large])
def test_a_constructor_that_refuses_other_step_sizes(cls: type[Bounded]) -> None:
    target, inner = small_rbm(), tunable(cls, step_size="auto")
    for sampler in (inner, tunable(ParallelTempering, inner, ladder=[1.0, 0.5], step_size="auto")):
        found = sampler.tune(target, seeded(0), effort=0.1).hyperparameters["step_size"]
        sizes: Any = found if isinstance(found, list) else [found]
        assert all(cls.low * 0.999 <= size <= cls.high * 1.001 for size in sizes)


def test_the_step_size_that_stands_for_all_is_1_where_that_is_taken() -> None:
    assert [float(first_built(cls).step_size) for cls in (DMALA, Bounded, Large)] == [1.0, 0.5, 4.0]
    assert len(EXAMPLES) == 41

    def refuses(step_size: float) -> Bounded:
        raise ValueError(f"{step_size} was given")

    with pytest.raises(ValueError, match=r"^1\.0 was given"):
        first_built(refuses)
