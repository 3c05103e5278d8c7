"""`runner.run` computes what the command computes, and leaves the process as it was."""

from __future__ import annotations

import signal
from pathlib import Path

import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from torch import Tensor

import runner
from runner.execution.errors import RunError, UserError
from targets import Bernoulli4

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=[tv]", "task.steps=20", "task.chains=3")


class Breaking(Bernoulli4):
    """Gives NaN once a run is on its way."""

    calls = 0

    def log_prob(self, theta: Tensor) -> Tensor:
        Breaking.calls += 1
        return super().log_prob(theta) * (1.0 if Breaking.calls < 12 else torch.nan)


def test_runs_are_computed_once_and_come_back_as_a_frame(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    asked = (*SMALL, "seed=range(0,3)", f"output_root={tmp_path}")
    first = runner.run(*asked)
    assert signal.getsignal(signal.SIGINT) is before
    assert sorted(first["seed"]) == [0, 1, 2]
    assert first["tv"].between(0, 1).all()
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/summary.json")}
    again = runner.run(*asked)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/summary.json")} == stamps
    pd.testing.assert_frame_equal(again, first)
    stored = runner.load_runs("target=bernoulli4", output_root=tmp_path).sort_values(
        "seed", ignore_index=True
    )
    pd.testing.assert_frame_equal(stored, first.sort_values("seed", ignore_index=True))


def test_mistakes_and_failures_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Unknown target 'bernouli4'"):
        runner.run("target=bernouli4", f"output_root={tmp_path}")
    failing = ("target._target_=tests.runner.library.test_whole_runs.Breaking", *SMALL[1:])
    with pytest.raises(RunError, match="0 of 1 runs are done; why the others are not is printed above"):
        runner.run(*failing, f"output_root={tmp_path}")


def test_a_process_with_a_hydra_of_its_own_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("x: 1\n")
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(tmp_path), version_base="1.3"):
            assert compose("mine").x == 1
            with pytest.raises(UserError, match=r"runner.run uses Hydra, which this process uses for a "):
                runner.run(*SMALL, f"output_root={tmp_path}")
    finally:
        GlobalHydra.instance().clear()
