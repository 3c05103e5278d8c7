"""What is refused of a user's own sampler and target: one sentence, before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight
from tests.support.commands import Call, refused_before_any_run

SAMPLERS = """
from samplers.discrete.gibbs import Gibbs


class Forgets(Gibbs):
    def __init__(self, step_size: float = 0.5, down: float = 2.0) -> None:
        super().__init__()
        self.step_size = step_size


class Tuned(Forgets):
    def __init__(self, step_size: float, down: float = 2.0) -> None:
        super().__init__(step_size)
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module `own_samplers`."""
    (tmp_path / "own_samplers.py").write_text(SAMPLERS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("tempering", ["parallel", "simulated", "annealed"])
def test_a_kernel_that_does_not_keep_an_argument_cannot_be_tuned_inside_a_ladder(tempering: str) -> None:
    own = "target=bernoulli4 sampler._target_=own_samplers.Tuned"
    said = refused_before_any_run(own, f"tempering={tempering}")
    assert "kernel must keep its constructor's argument down as an attribute" in said


def test_with_a_ladder_of_numbers_it_needs_not_keep_them() -> None:
    own = "target=bernoulli4 sampler._target_=own_samplers.Forgets tempering=parallel"
    preflight(jobs_of(requested([*own.split(), "tempering.ladder=[1,0.5]", "metric=tv"], multirun=False)))
