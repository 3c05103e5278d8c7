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
from metrics.library.thread_count import thread_count
from runner.execution.errors import RunError, UserError
from targets import Bernoulli4

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=[tv]", "task.steps=20", "task.chains=3")


class Breaking(Bernoulli4):
    """Gives NaN once a run is on its way."""

    calls = 0

    def log_prob(self, theta: Tensor) -> Tensor:
        Breaking.calls += 1
        return super().log_prob(theta) * (1.0 if Breaking.calls < 12 else torch.nan)


class Spoilt(Bernoulli4):
    """Gives NaN once it is tuned to."""

    calls = 0

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        Spoilt.calls += 1
        log_prob, grad = super().log_prob_and_grad(theta)
        return log_prob * (1.0 if Spoilt.calls < 60 else torch.nan), grad


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


def test_runs_leave_the_threads_of_the_process_as_they_are(tmp_path: Path) -> None:
    with thread_count(2):
        runner.run(*SMALL, f"output_root={tmp_path}")
        assert torch.get_num_threads() == 2
        with pytest.raises(UserError, match="Unknown target"):
            runner.run("target=bernouli4", f"output_root={tmp_path}")
        assert torch.get_num_threads() == 2


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


def test_overrides_are_texts_and_may_come_with_a_folder(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"overrides are texts, as run\('target=mog'\); a list was given"):
        runner.run([*SMALL])  # type: ignore[arg-type]
    (tmp_path / "conf" / "target").mkdir(parents=True)
    (tmp_path / "conf" / "target" / "mine.yaml").write_text("name: mine\n_target_: targets.Bernoulli4\n")
    asked = ("target=mine", *SMALL[1:], f"output_root={tmp_path}")
    assert list(runner.run(*asked, config_dir=tmp_path / "conf")["target"]) == ["mine"]


EDITED = {
    "sampler/own.yaml": "{name: own, _target_: samplers.discrete.dmala.DMALA, step_size: 1, balancing: 0.5}",
    "metric/own.yaml": "own: {_target_: metrics.discrepancy.mmd.MMDExact, bandwidth: 2}",
    "experiment/own.yaml": "# @package _global_\nexperiment: own\nsweep: {grid: {target: [bernoulli4]}, "
    "rows: [{row: A, sampler: own}], overrides: {task.steps: 20, task.chains: 3, metric: own}}",
}


def test_files_that_were_edited_or_added_between_two_calls_are_read_anew(tmp_path: Path) -> None:
    """In one process, as in a notebook."""
    own = tmp_path / "conf"

    def written(name: str, text: str) -> None:
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text)

    def settings(*asked: str) -> list[float]:
        found = runner.run(*asked, "seed=0", f"output_root={tmp_path}", config_dir=own)
        return list(found[["sampler.step_size", "metric.own.bandwidth", "task.steps"]].iloc[0])

    for name, text in EDITED.items():
        written(name, text)
    assert settings("+experiment=own") == [1, 2, 20]
    written("sampler/own.yaml", EDITED["sampler/own.yaml"].replace("size: 1", "size: 3"))
    assert settings("+experiment=own") == [3, 2, 20]
    written("metric/own.yaml", EDITED["metric/own.yaml"].replace("2", "4"))
    assert settings("+experiment=own") == [3, 4, 20]
    written("experiment/own.yaml", EDITED["experiment/own.yaml"].replace("20", "25"))
    assert settings("+experiment=own") == [3, 4, 25]
    written("sampler/new.yaml", EDITED["sampler/own.yaml"].replace("own", "new"))
    assert settings(*SMALL[:1], "sampler=new", "metric=own", "task.steps=20", SMALL[4]) == [1, 4, 20]

    def of_the_experiment() -> int:
        return len(runner.load_runs("experiment=own", output_root=tmp_path, config_dir=own))

    before = of_the_experiment()
    written("experiment/own.yaml", EDITED["experiment/own.yaml"].replace("sampler: own", "sampler: new"))
    assert of_the_experiment() == before + 1


def test_a_run_that_fails_before_its_start_is_among_the_runs(tmp_path: Path) -> None:
    """As where a sampler cannot be tuned."""
    place = f"target._target_={__name__}.Spoilt"
    with pytest.raises(RunError):
        runner.run(place, "sampler=dmala", *SMALL[2:], f"output_root={tmp_path}")
    found = runner.load_runs("status=failed", output_root=tmp_path)
    assert list(found["sampler"]) == ["dmala"]
    assert runner.load_runs("sampler=dmala", output_root=tmp_path)["status"].tolist() == ["failed"]
