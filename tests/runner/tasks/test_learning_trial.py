"""What learning and annealing will take: the arithmetic, from times that are made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.models import training_trial
from runner.models.recipe import recipe_of
from runner.sweep.jobs import jobs_of, requested
from runner.tasks import learning_trial

LINES = (
    *("scale=smoke", "task=learn", "target=resnet_ebm", "target.dataset=digits", "target.width=2"),
    *("target.blocks=1", "target.halvings=0", "sampler=acs", "task.iterations=40", "task.tune_every=15"),
    *("task.validate_every=20", "task.validation.temperatures=30", "task.validation.chains=6"),
    *("task.ais.temperatures=50", "task.ais.chains=5", "task.ais.repeats=3", "task.ais.draw_steps=8"),
)

FIRST, TWO, SIX, WARM, LONG, SHORT = 9.0, 4.0, 3.0, 100.0, 67.0, 7.0
"""Of the first iteration, two more, 6 temperatures of a validation, and annealings: one that warms up, and
those of 6 and of 2 temperatures.
"""


def test_every_part_counts_as_often_as_it_will_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = iter((FIRST, TWO, SIX, WARM, LONG, SHORT))

    def seconds(call: Callable[[], object]) -> float:
        call()
        return next(made_up)

    for module in (training_trial, learning_trial):
        monkeypatch.setattr(module, "seconds_of", seconds)
    (job,) = jobs_of(requested([*LINES, f"output_root={tmp_path}"], multirun=False))
    # Iterations; tunings before 0, 15 and 30; two validations.
    expected = 40 * 2.0 + 3 * (9.0 - 2.0) + 2 * 30 * (3.0 / 6)
    assert training_trial.training_seconds(recipe_of(job.config, 0), job.config) == pytest.approx(expected)
    # 60 s for 4 temperatures there and back with 15 chains: half a second a chain and temperature.
    chain = 60.0 / (2 * 4) / 15
    expected = chain * 2 * 15 * (50 + 8 / 2)  # both ends, and the draws of the model
    expected += chain * (256 + 1285)  # test and training images
    assert learning_trial.annealing_seconds(job.config, 0) == pytest.approx(expected)
    assert next(made_up, None) is None
    assert list(tmp_path.iterdir()) == []
