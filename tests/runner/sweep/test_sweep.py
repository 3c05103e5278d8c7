"""From a command to its jobs, and what a sweep says in the end."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner import table
from runner.config.choices import LARGEST_BATCH
from runner.config.experiments.chosen_rows import chosen_rows
from runner.execution.errors import UserError
from runner.execution.reached import Reached
from runner.files.locks import Lock
from runner.store.run_store import Store
from runner.store.under_way import UnderWay, note, under_way
from runner.sweep import job_runner
from runner.sweep.jobs import experiment_jobs, jobs_of, requested
from runner.sweep.outcome import command, failures_in_words
from tests.support.commands import Call, refused

SMALL_SWEEP = ("target=bernoulli4", "metric=tv", "task.steps=20", "task.chains=3")


def overrides(*lines: str) -> list[list[str]]:
    return [plan.overrides for plan in requested(lines, multirun=True).plans]


def test_a_grid_is_every_combination() -> None:
    assert overrides("target=mog,mos", "sampler=dmala", "target.components=8,16") == [
        ["target=mog", "sampler=dmala", "target.components=8"],
        ["target=mog", "sampler=dmala", "target.components=16"],
        ["target=mos", "sampler=dmala", "target.components=8"],
        ["target=mos", "sampler=dmala", "target.components=16"],
    ]


@pytest.mark.parametrize(
    ("given", "jobs"),
    [
        ("seed=range(0,5)", ["seed=[0,1,2,3,4]"]),
        ("seed=3,1", ["seed=[3,1]"]),
        ("seed=7", ["seed=7"]),
        ("seed=[1,2],[3,4]", ["seed=[1,2]", "seed=[3,4]"]),
        ("++seed=0,1", ["seed=[0,1]"]),
    ],
)
def test_swept_seeds_are_a_batch(given: str, jobs: list[str]) -> None:
    assert overrides(given) == [[job] for job in jobs]


def test_a_long_sweep_over_seeds_is_cut() -> None:
    jobs = jobs_of(requested([f"seed=range(0,{LARGEST_BATCH + 3})"], multirun=True))
    assert [len(job.run_ids) for job in jobs] == [LARGEST_BATCH, 3]
    assert list(jobs[1].run_ids) == [32, 33, 34]


def test_a_list_value_is_no_sweep() -> None:
    assert overrides("sampler.ladder=[1,0.5],[1,0.5,0]", "metric=[kl,tv]") == [
        ["sampler.ladder=[1,0.5]", "metric=[kl,tv]"],
        ["sampler.ladder=[1,0.5,0]", "metric=[kl,tv]"],
    ]


def test_a_job_twice_is_computed_once() -> None:
    assert len(jobs_of(requested(["sampler=dmala", "sampler.step_size=1,1.0"], multirun=True))) == 1


def test_an_experiment_is_grid_times_rows(tiny: str) -> None:
    jobs = experiment_jobs("tiny", [tiny, "scale=smoke"])
    assert [(job.row, job.cell["target"], job.config.sampler.get("step_size")) for job in jobs] == [
        ("Gibbs", "bernoulli4", None),
        ("Gibbs", "mog", None),
        ("DMALA, fixed", "bernoulli4", 1),
        ("DMALA, fixed", "bernoulli4", 2.5),
        ("DMALA, fixed", "mog", 1),
        ("DMALA, fixed", "mog", 2.5),
        ("PT", "bernoulli4", None),
        ("PT", "mog", None),
    ]
    assert {tuple(job.run_ids) for job in jobs} == {(0, 1)}
    assert {job.config.experiment for job in jobs} == {"tiny"}
    assert list(jobs[-1].config.sampler.ladder) == [1, 0.5, 0]
    assert list(jobs[0].config.metric) == ["tv", "jump"]


@pytest.mark.parametrize(
    ("given", "number"),
    [
        ("target=mog", 4),
        ("sampler=dmala", 4),
        ("sampler.step_size=1", 2),
        ("sampler=gibbs,pt_gibbs", 4),
        ("sampler=glob(*gibbs)", 4),
        ("sampler=glob(['*gibbs','pt*'],exclude=['pt*'])", 2),
        ("row=Gibbs", 2),
        ("row=glob(*T)", 2),
        ("row=PT,'DMALA, fixed'", 6),
    ],
)
def test_a_users_choice_narrows_an_experiment(tiny: str, given: str, number: int) -> None:
    assert len(experiment_jobs("tiny", [tiny, given])) == number


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("1", "1"),
        ("'1'", "1"),
        ("0.50", "0.50"),
        ("'0.50'", "0.50"),
        ("1e-3", "1e-3"),
        ("true", "true"),
        ("'true'", "true"),
        ("null", "null"),
        ("'[a]'", "[a]"),
        ("'DMALA, K = 4'", "DMALA, K = 4"),
        ('"DMALA, K = 4"', "DMALA, K = 4"),
    ],
)
def test_a_label_is_taken_as_it_is_written(given: str, label: str) -> None:
    labels = [1, "0.50", "1e-3", "true", "null", "[a]", "DMALA, K = 4", "0.5"]
    rows = [{"row": each, "place": place} for place, each in enumerate(labels)]
    assert [str(row["row"]) for row in chosen_rows("mine", rows, [f"row={given}"])] == [label]
    both = chosen_rows("mine", rows, ["row=0.5", f"row={given}"])
    assert [str(row["row"]) for row in both] == [label, "0.5"]
    with pytest.raises(UserError, match="Unknown row of the experiment mine 'none'"):
        chosen_rows("mine", rows, [f"row={given}", "row=none"])
    assert chosen_rows("mine", rows, []) == rows


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("glob(*)", ["DMALA", "PT-DMALA", "PT-DMALA, K = 8"]),
        ("glob(PT*)", ["PT-DMALA", "PT-DMALA, K = 8"]),
        ("glob('*K = 8')", ["PT-DMALA, K = 8"]),
        ("glob([DM*,'*8'])", ["DMALA", "PT-DMALA, K = 8"]),
        ("glob(*,exclude='PT*')", ["DMALA"]),
    ],
)
def test_a_pattern_chooses_the_labels_that_it_fits(given: str, labels: list[str]) -> None:
    rows = [{"row": each} for each in ("DMALA", "PT-DMALA", "PT-DMALA, K = 8")]
    assert [str(row["row"]) for row in chosen_rows("mine", rows, [f"row={given}"])] == labels
    with pytest.raises(UserError) as refusal:
        chosen_rows("mine", rows, ["row=glob(ACS*)"])
    sentence = "'row=glob(ACS*)' fits no row of the experiment mine: DMALA, PT-DMALA, \"PT-DMALA, K = 8\"."
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("sign", ["", "++"])
def test_a_users_value_replaces_an_experiments(tiny: str, sign: str) -> None:
    given = [f"{sign}sampler.step_size=1", f"{sign}seed=7"]
    assert [job.run_ids.keys() for job in experiment_jobs("tiny", [tiny, *given])] == [{7}] * 2
    jobs = experiment_jobs("tiny", [tiny, f"{sign}task.steps=40", f"{sign}seed=range(3,6)"])
    assert {job.config.task.steps for job in jobs} == {40}
    assert {tuple(job.run_ids) for job in jobs} == {(3, 4, 5)}


def test_an_experiment_and_its_single_job_are_the_same_run(tiny: str) -> None:
    (job,) = experiment_jobs("tiny", [tiny, "target=mog", "sampler=gibbs", "seed=0"])
    by_hand = ["target=mog", "sampler=gibbs", "metric=[tv,jump]", "task.steps=30", "task.chains=3", "seed=0"]
    (same,) = jobs_of(requested(by_hand, multirun=False))
    assert job.run_ids == same.run_ids


@pytest.mark.parametrize("name", ["pt_table1", "pt_table4", "pt_table5", "pt_figure2"])
def test_every_experiment_has_jobs(name: str) -> None:
    jobs = experiment_jobs(name, ["scale=smoke"])
    runs = [run_id for job in jobs for run_id in job.run_ids.values()]
    assert len(runs) == 2 * len(jobs)
    assert len(set(runs)) > 20


def test_a_sweep_runs_and_is_skipped_when_repeated(call: Call, tmp_path: Path, tiny: str) -> None:
    argv = ("-m", "+experiment=tiny", tiny, "scale=smoke")
    ended = call(*argv)
    assert (ended.status, ended.out) == (0, "16 runs done.\n"), ended.err
    rows = Store("outputs").run(next(Path("outputs/runs").iterdir()).name).metrics()
    assert rows is not None
    assert set(rows["experiment"]) == {"tiny"}
    before = {path: path.stat().st_mtime_ns for path in Path("outputs/runs").glob("*/*")}
    assert call(*argv).out == "0 runs done, 16 skipped (done before).\n"
    assert before == {path: path.stat().st_mtime_ns for path in Path("outputs/runs").glob("*/*")}
    litter = {path.name for path in tmp_path.iterdir()} - {"outputs", "conf"}
    assert not litter


LATE = """
import torch
from targets.spaces import Binary
from targets.target import Target

class Late(Target):
    '''NaN at one state that no run starts at.'''
    def __init__(self, bad=7):
        super().__init__()
        self.space = Binary(3)
        self.bad = bad
    def initial(self, shape, generator):
        return torch.zeros((*shape, 3))
    def log_prob(self, theta):
        place = self.space.index(theta)
        return torch.where(place == self.bad, float("nan"), 0.0).to(theta)

class Breaks(Late):
    calls = 0
    def log_prob(self, theta):
        Breaks.calls += 1
        if Breaks.calls > 20:
            raise RuntimeError("out of luck")
        return super().log_prob(theta)
"""


LATE_TARGET = "target._target_=late_targets.Late"


@pytest.fixture
def late_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_targets.py").write_text(LATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "late_targets", raising=False)


@pytest.mark.usefixtures("late_targets")
def test_the_table_of_a_sweep_counts_its_failed_runs_as_table_runs_does(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("sampler=random_walk", "task.steps=12", "task.chains=1", "task.record=0", "seed=range(0,6)")
    ended = call("-m", LATE_TARGET, "metric=jump", *few)
    done, failed = map(int, re.findall(r"(\d+) runs? done, (\d+) failed", ended.out)[0])
    assert min(done, failed) > 0
    assert f"(n={done} of 6)" in ended.out
    assert table.main(["runs"]) == 0
    assert f"(n={done} of 6)" in capsys.readouterr().out


@pytest.mark.usefixtures("late_targets")
def test_a_failed_run_does_not_stop_a_sweep(call: Call) -> None:
    small = (
        "sampler=random_walk",
        "metric=jump",
        "task.steps=50",
        "task.chains=4",
        "task.record=0",
        "seed=0,1",
    )
    ended = call("-m", LATE_TARGET, "+target.bad=7,8", *small)
    assert ended.status == 1
    assert ended.out.endswith("\n2 runs done, 2 failed.\n")
    assert "late_targets.Late gave NaN or infinity as a log density by step 50 (seed 0, 1).\n" in ended.err
    (line,) = [line for line in ended.err.splitlines() if line.startswith("  repeat: ")]
    assert line.endswith("'seed=[0,1]'")
    assert "target._target_=late_targets.Late" in line
    assert "Traceback" not in ended.err
    statuses = sorted(Store("outputs").run(path.name).status() for path in Path("outputs/runs").iterdir())
    assert statuses == ["done", "done", "failed", "failed"]
    (failure,) = {path.read_text() for path in Path("outputs/runs").glob("*/failure.json")}
    assert json.loads(failure)["error"] == "NotANumberError"
    assert not list(Path("outputs/runs").glob("*/checkpoint.pt"))
    # Repeating it tries the failed runs again, and no others.
    assert call("-m", LATE_TARGET, "+target.bad=7,8", *small).out.endswith(
        "\n0 runs done, 2 skipped (done before), 2 failed.\n"
    )


def test_an_error_after_the_results_were_written_fails_no_other_seed(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a file system that will not remove a checkpoint."""
    unlink, met = Path.unlink, list[Path]()

    def unlink_or_not(path: Path, missing_ok: bool = False) -> None:
        if path.name == "checkpoint.pt" and not met and (path.parent / "summary.json").exists():
            met.append(path)
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_or_not)
    task = ("task=log_partition", "task.temperatures=5", "task.chains=4")
    ended = call(*task, "target=bernoulli4", "sampler=dmala", "sampler.step_size=0.4", "seed=[0,1,2]")
    assert met
    assert ended.status == 0
    assert "warning: after the results were written: " in ended.err
    statuses = [Store("outputs").run(path.name).status() for path in Path("outputs/runs").iterdir()]
    assert statuses == ["done", "done", "done"]


@pytest.mark.usefixtures("late_targets")
def test_fail_fast_ends_a_sweep_with_its_first_failure(call: Call) -> None:
    short = ("task.steps=20", "task.chains=2", "task.record=0", "seed=0,1")
    small = ("sampler=random_walk", "metric=jump", *short)
    sweep = ("-m", LATE_TARGET, "+target.bad=8,7,9", *small, "sweep.fail_fast=true")
    ended = call(*sweep)
    assert ended.status == 1
    assert ended.out.endswith("\n2 runs done, 2 failed, 2 not begun (sweep.fail_fast).\n")
    # The others are computed where it is not asked for; what is done is skipped.
    assert call(*sweep[:-1]).out.endswith("\n2 runs done, 2 skipped (done before), 2 failed.\n")
    said = refused(call, *sweep[:-1], "sweep.fail_fast=yes")
    assert said == "error: sweep.fail_fast must be true or false, 'yes' was given.\n"
    for plan in ([], ["--dry-run"]):
        assert refused(call, *sweep, "hydra/launcher=joblib", *plan) == (
            "error: sweep.fail_fast=true needs hydra/launcher=basic, since other launchers are handed all "
            "jobs at once; hydra/launcher=joblib was given.\n"
        )


@pytest.mark.usefixtures("late_targets")
def test_a_failure_ends_with_its_last_lines(call: Call) -> None:
    target = ("target._target_=late_targets.Breaks", "+target.bad=9", "sampler=gibbs", "metric=jump")
    ended = call("-m", *target, "task.steps=50", "task.chains=4", "seed=0")
    assert ended.status == 1
    assert "    RuntimeError: out of luck" in ended.err.splitlines()
    assert len(ended.err.splitlines()) == 5


@pytest.mark.usefixtures("late_targets")
def test_the_seeds_of_a_batch_that_are_well_go_on(call: Call) -> None:
    """NaN is met by one chain in many: with few steps only some of the seeds meet it."""
    few = ("sampler=random_walk", "metric=jump", "task.chains=1", "task.steps=5", "seed=range(0,8)")
    ended = call("-m", LATE_TARGET, "+target.bad=7", *few)
    assert ended.status == 1
    statuses = [Store("outputs").run(path.name).status() for path in Path("outputs/runs").iterdir()]
    assert sorted(set(statuses)) == ["done", "failed"]
    assert f"{statuses.count('done')} runs done, {statuses.count('failed')} failed." in ended.out


def test_the_command_that_repeats_is_quoted() -> None:
    lines = ["target=mog", "sampler.ladder=[1,0.5]", "seed=[0,1,2]"]
    assert command(lines, [1]) == "python -m runner target=mog 'sampler.ladder=[1,0.5]' seed=1"
    assert command(lines, [0, 2]).endswith(" 'seed=[0,2]'")
    assert failures_in_words([]) == ""


def test_one_sentence_for_an_experiment_without_rows(tmp_path: Path, tiny: str) -> None:
    (tmp_path / "conf" / "experiment" / "empty.yaml").write_text("# @package _global_\nexperiment: empty\n")
    with pytest.raises(UserError, match=r"The experiment empty has no sweep\.rows to run\."):
        experiment_jobs("empty", [tiny])


def test_m_stands_anywhere_on_the_line(call: Call) -> None:
    sweep = (*SMALL_SWEEP, "sampler=gibbs,random_walk")
    for place in range(len(sweep) + 1):
        ended = call(*sweep[:place], "-m", *sweep[place:])
        assert ended.status == 0, ended
    assert ended.out.endswith("0 runs done, 2 skipped (done before).\n"), ended.out


def test_a_pattern_skips_the_samplers_that_cannot_serve_the_target(call: Call) -> None:
    ended = call(*SMALL_SWEEP, "-m", "sampler=glob(g*)")
    assert ended.status == 0, ended.err
    said = "warning: left out: sampler=ground_truth_draws (sampler: ground_truth_draws needs "
    assert ended.err.startswith(said)
    assert ended.err.count("\n") == 1
    done = {json.loads(path.read_text())["sampler"] for path in Path("outputs").glob("runs/*/summary.json")}
    assert done == {"gibbs", "gwg"}
    nothing = call(*SMALL_SWEEP, "-m", "sampler=glob(tour*)")
    assert nothing.status == 2
    assert "No job of the pattern is left: sampler: tour_swap needs" in nothing.err
    # A list is what was asked for, one by one: it is refused as a whole.
    assert call(*SMALL_SWEEP, "-m", "sampler=gibbs,tour_swap").status == 2


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        ("task.steps=1e3", "task.steps=1000"),
        ("++task.steps=1.5e+3", "++task.steps=1500"),
        ("checkpoint.steps=1e2", "checkpoint.steps=100"),
        ("seed=1e1", "seed=10"),
        ("task.steps=1e2,3", "task.steps=100 task.steps=3"),
        ("task.steps=1.5e0", "task.steps=1.5e0"),
        ("sampler.step_size=1e2", "sampler.step_size=1e2"),
    ],
)
def test_a_whole_number_may_have_an_exponent(line: str, plan: str) -> None:
    assert overrides("sampler=dmala", line) == [["sampler=dmala", each] for each in plan.split()]


def test_a_run_says_in_its_lock_how_far_it_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[UnderWay | None] = []

    def noted_and_read(locks: Sequence[Lock], work: Reached) -> None:
        note(locks, work)
        read.extend(under_way(lock.path) for lock in locks)

    monkeypatch.setattr(job_runner, "note", noted_and_read)
    call(*SMALL_SWEEP, "sampler=pt_gibbs", "sampler.ladder=auto", "seed=[0,1]")
    works = [each.work for each in read if each is not None and each.work is not None]
    assert len(works) == len(read)
    assert list(dict.fromkeys(work.title for work in works)) == [
        "tuning pt_gibbs to bernoulli4",
        "bernoulli4 / pt_gibbs, 2 seeds",
    ]
    assert all(0 < work.step <= work.steps for work in works)
    assert [path.read_bytes() for path in Path("outputs/runs").glob("*/lock")] == [b"", b""]
