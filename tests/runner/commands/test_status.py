"""`python -m runner.status`: it reports and computes no run."""

from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path
from typing import NoReturn

import pytest

from runner.models import training_trial
from runner.problem import tuning_cache
from runner.status import main
from runner.sweep import estimate
from runner.sweep.estimate import left
from runner.sweep.jobs import experiment_jobs
from runner.sweep.standing import standing
from tests.support.commands import Call


def everything(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.glob("outputs/**/*")}


@pytest.mark.usefixtures("tiny")
def test_every_status_is_shown_only(call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = f"hydra.searchpath=[file://{tmp_path}/conf]"
    argv = [where, "scale=smoke", "target=bernoulli4"]
    assert main(["tiny", *argv]) == 0
    assert not (tmp_path / "outputs").exists()
    assert "8 runs are left: about " in capsys.readouterr().out

    call("-m", "+experiment=tiny", *argv)
    gibbs, dmala, *_ = experiment_jobs("tiny", argv)
    runs = Path("outputs/runs")
    failed, interrupted = (runs / name for name in gibbs.run_ids.values())
    for folder in (failed, interrupted):
        (folder / "summary.json").unlink()
    (failed / "failure.json").write_text('{"status": "failed"}')
    running = runs / dmala.run_ids[0]
    (running / "summary.json").unlink()
    who = {"host": "node3", "pid": 12, "since": "2026-01-02T03:04:05+00:00"}
    work = {"title": "learning", "step": 1200, "steps": 2000, "left": 90.4}
    (running / "lock").write_text(json.dumps(who | work))
    before = everything(tmp_path)
    with (running / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        capsys.readouterr()
        assert main(["tiny", *argv]) == 0
    out = capsys.readouterr().out
    progress = "learning: 1,200 of 2,000, about 1 min 30 s left (process 12, node3)"
    assert f", bernoulli4, seed 0: {progress}\n" in out
    assert everything(tmp_path) == before
    total = next(line for line in out.splitlines() if line.startswith("│ all"))
    assert [int(number) for number in re.findall(r"\d+", total)] == [5, 1, 1, 1]
    assert re.search(r"2 runs are left: about [0-9.]+ s in one process\.", out)


@pytest.mark.usefixtures("tiny")
def test_time_left_is_that_of_done_runs(call: Call, tmp_path: Path) -> None:
    argv = [f"hydra.searchpath=[file://{tmp_path}/conf]", "scale=smoke", "sampler=gibbs"]
    call("-m", "+experiment=tiny", *argv, "target=bernoulli4")
    done, missing = (standing(job) for job in experiment_jobs("tiny", argv))
    assert (done.left, missing.left) == (0, 2)
    cost = sum(float(summary["wall_seconds"]) for summary in done.summaries)
    will = left([done, missing], briefly=True)
    assert will.seconds == pytest.approx(cost)
    assert left([done]).seconds == 0


def test_what_a_launcher_is_told_is_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sweep's overrides may be given to its status and table; those of nothing are refused as before."""
    words = ["pt_table1", "scale=smoke", "sampler=exact_draws", "target=mog", f"output_root={tmp_path}"]
    told = ["hydra.launcher.partition=x", "+hydra.launcher.qos=y", "++hydra.launcher.ray.b=2"]
    assert main(words) == 0
    counts, _, _ = capsys.readouterr().out.partition(" are left")  # what follows is a measured time
    assert main([*words, "hydra/launcher=slurm", *told]) == 0
    assert capsys.readouterr().out.startswith(counts)
    assert counts.endswith(" runs")
    assert main([*words, "hydra.launchr.partition=x"]) == 2
    assert main(["hydra.launcher.partition"]) == 2


def test_an_unknown_experiment_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pt_tabel1"]) == 2
    assert "did you mean 'pt_table1'?" in capsys.readouterr().err
    assert main([]) == 2
    assert "see --help" in capsys.readouterr().err


@pytest.mark.parametrize("experiment", ["pt_table2_sampling", "pt_table2_learning", "pt_table3"])
def test_models_that_are_not_trained_yet_and_pilots_are_not_tried(
    experiment: str, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a sweep in which nothing was finished every row was tuned and trained a little: minutes."""
    monkeypatch.setattr(training_trial, "training_seconds", tried)
    monkeypatch.setattr(tuning_cache, "tuning_trial", tried)
    assert main([experiment, "scale=smoke", "seed=0"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "cannot be told before one is done; the command of the sweep with --dry-run estimates it." in said
    assert not Path("outputs").exists()


def tried(*_: object) -> NoReturn:
    raise AssertionError("a trial that takes long")


TUNED = ("target=bernoulli4", "sampler=dmala", "metric=tv", "task.steps=30", "task.chains=3", "scale=smoke")
"""A run whose step size is left to a pilot."""


def test_a_pilot_of_before_is_read_for_a_trial(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was run again, though its result is what the runs that are left will have."""
    assert call(*TUNED, "seed=0").status == 0
    assert call("-m", *TUNED, "task.steps=30,60", "seed=0", "--dry-run").status == 0
    monkeypatch.setattr(tuning_cache, "tuning_trial", tried)
    (summary,) = tmp_path.glob("outputs/runs/*/summary.json")
    summary.unlink()
    assert "1 run, 1 to do.\nIt takes about " in call(*TUNED, "seed=0", "--dry-run").out


@pytest.mark.usefixtures("tiny")
def test_a_brief_estimate_begins_no_trial_when_its_time_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(estimate, "BRIEF_SECONDS", -1.0)
    assert main(["tiny", f"hydra.searchpath=[file://{tmp_path}/conf]", "scale=smoke"]) == 0
    said = capsys.readouterr().out
    assert "16 runs are left. How long they take cannot be told before one is done; the command" in said


def test_the_counts_fit_80_columns_and_labels_are_shown_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conf" / "experiment" / "wide.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "# @package _global_\nexperiment: wide\nsweep:\n  rows:\n"
        '    - {row: "Gibbs [v1] of :smile:", sampler: gibbs, task.steps: 30}\n'
        "    - {row: DMALA, sampler: dmala, sampler.step_size: 0.125, task.steps: 40, task.record: 8}\n"
        '  overrides: {target: bernoulli4, metric: "[tv,jump]", task.chains: 3, task.start: uniform}\n'
    )
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    assert main(["wide", f"hydra.searchpath=[file://{tmp_path}/conf]", "scale=smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith(("│", "┃"))]
    assert max(map(len, table)) <= 80
    assert re.fullmatch(r"┃ row +┃ column +┃ done ┃ missing ┃", table[0])
    assert any(re.search(r"│ Gibbs \[v1\] of :smile: +│ sampler=gibbs.*│ +│ +2 │", line) for line in table)
    assert not any("target=bernoulli4" in line for line in table)  # all jobs have it
    assert re.fullmatch(r"│ all +│ +│ +0 │ +4 │", table[-1])
