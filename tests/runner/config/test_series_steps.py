"""`task.series`: at how many steps of a run ess and its like keep values."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.__main__ import main
from runner.config.compose import compose
from runner.config.run_settings import flat_settings
from runner.store.written_config import written_settings
from runner.tasks.run_identity import run_ids
from tests.support.commands import measured

RUN = ["target=bernoulli4", "sampler=exact_draws", "metric=[ess,autocorrelation_time]", "task.burn_in=0"]
LONG = [*RUN, "task.chains=2", "task.steps=6000", "seed=3"]


def test_runs_that_keep_as_many_steps_as_before_are_those_of_before() -> None:
    """The id is that of a version without the key."""
    plain, more, without = compose([]), compose(["task.series=5000"]), compose(["~task.series"])
    assert run_ids(plain, "cpu", [0]) == run_ids(without, "cpu", [0])
    assert run_ids(plain, "cpu", [0]) != run_ids(more, "cpu", [0])
    assert flat_settings(written_settings(plain)) == flat_settings(written_settings(without))
    assert flat_settings(written_settings(more))["task.series"] == 5000


def test_independent_draws_of_a_long_run_all_count(tmp_path: Path) -> None:
    """Of 12,000 draws every fourth is kept without it: 3,000."""
    found = {}
    for series in (0, 6000):
        root = tmp_path / str(series)
        assert main([*LONG, f"task.series={series}", f"output_root={root}"]) == 0
        found[series] = measured(root)
    assert 2500 < found[0]["ess"] < 3500
    assert 11000 < found[6000]["ess"] < 13000
    assert found[0]["autocorrelation_time"] == pytest.approx(4, rel=0.15)
    assert found[0]["autocorrelation_time_error"] is None
    assert found[6000]["autocorrelation_time"] == pytest.approx(1, rel=0.15)
    assert found[6000]["autocorrelation_time_error"] < 0.1


@pytest.mark.parametrize("given", ["-1", "2.5", "true", "many"])
def test_what_is_no_number_of_steps_is_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, f"task.series={given}"]) == 2
    assert "task.series must be a whole number" in capsys.readouterr().err
