"""How a command ends that left runs to other processes, or whose results were removed meanwhile."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from runner.files.lock_holders import holder
from runner.files.locks import Lock
from runner.store.run_store import Store
from runner.sweep import ending, launch
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.outcome import Outcome
from tests.support.commands import Call, rows

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=3", "seed=[0,1]")


@pytest.fixture
def other(call: Call) -> Lock:
    """The lock of the second run, which another process holds."""
    (job,) = jobs_of(requested(SMALL, multirun=True))
    folder = Store("outputs").run(job.run_ids[1])
    folder.prepare()
    assert folder.lock.take()
    return folder.lock


@pytest.mark.parametrize("flag", [(), ("-m",)])
def test_runs_that_are_left_to_another_process_have_a_status_of_their_own(
    call: Call, other: Lock, flag: tuple[str, ...]
) -> None:
    whom = holder(other.path)
    ended = call(*flag, *SMALL)
    assert ended.status == 3
    assert ended.err == (
        f"warning: 1 run is left to {whom}, and not done yet; repeat the command when it has ended.\n"
    )
    assert ("1 run done, 1 left to another process." in ended.out) == bool(flag)
    assert len(rows()) > 0
    other.release()
    assert call(*flag, *SMALL).status == 0


def test_runs_that_another_process_has_ended_meanwhile_are_done(call: Call) -> None:
    assert call("-m", *SMALL).status == 0
    jobs = jobs_of(requested(SMALL, multirun=True))
    first, second = jobs[0].run_ids.values()
    outcome = Outcome(done=[first], locked=[second])
    assert ending.ended(jobs, outcome) == 0
    assert outcome.sentence() == "1 run done, 1 skipped (done before)."


def test_runs_that_have_other_ids_where_they_were_computed_are_named(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as those of a node with a GPU, for which device=auto is another device than here."""
    assert call("-m", *SMALL, "sampler=random_walk").status == 0
    (elsewhere,) = jobs_of(requested([*SMALL, "sampler=random_walk"], multirun=True))
    outcome = Outcome(done=list(elsewhere.run_ids.values()))
    assert ending.ended(jobs_of(requested(SMALL, multirun=True)), outcome) == 0
    assert capsys.readouterr().err.startswith(
        "warning: 2 of the runs have other ids where they were computed, since a file of the configuration "
    )
    assert outcome.sentence() == "2 runs done."


OWN = """
from samplers.discrete.gibbs import Gibbs


class Mine(Gibbs):
    rate = 1
"""


def test_own_code_that_was_edited_meanwhile_is_the_reason_of_other_ids(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker reads the code of one's own anew, and finds what was saved after the command began."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    own = (*SMALL, "sampler._target_=edited.Mine", "sampler.name=mine", "seed=0")
    (tmp_path / "edited.py").write_text(OWN)
    asked = jobs_of(requested(own, multirun=True))
    (tmp_path / "edited.py").write_text(OWN.replace("rate = 1", "rate = 22"))
    monkeypatch.delitem(sys.modules, "edited")  # as in another process
    assert call("-m", *own).status == 0
    (elsewhere,) = jobs_of(requested(own, multirun=True))
    capsys.readouterr()
    assert ending.ended(asked, Outcome(done=list(elsewhere.run_ids.values()))) == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: 1 of the runs has another id where it was computed, since the code of ")
    assert "the code of edited.Mine there is not the same as when this command began; do not change" in said
    assert "auto" not in said


def test_a_device_that_is_another_one_there_is_the_reason_of_other_ids(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("-m", *SMALL, "seed=0").status == 0
    asked = jobs_of(requested([*SMALL, "seed=0"], multirun=True))
    (run_id,) = asked[0].run_ids.values()
    manifest = Store("outputs").run(run_id).path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"type": "cpu"', '"type": "cuda"'))
    asked[0].run_ids[0] = "0" * 16
    ending.ended(asked, Outcome(done=[run_id]))
    assert "since device=auto or compile=auto stood for another value there" in capsys.readouterr().err


def test_runs_that_are_too_short_for_their_ladder_are_named(call: Call) -> None:
    tempered = ("target=bernoulli4", "sampler=pt_gibbs", "metric=[round_trips,barrier]", "task.chains=3")
    ladder = "sampler.ladder=[1,0.8,0.6,0.4,0.2,0]"
    said = call(*tempered, ladder, "task.steps=3").err
    assert said.startswith(
        "warning: The run is too short for the ladder: pt_gibbs on bernoulli4 made 0 round trips a chain, "
        "each of which takes a replica at least "
    )
    assert said.endswith(" swap rounds on average; more steps (task.steps) would help.\n")
    assert 12 <= int(said.split(" swap rounds")[0].split()[-1]) < 30, "2 + 2 Lambda for each of 6 replicas"
    said = call(*tempered, ladder, "task.steps=3", "sampler.swap.pairing=stochastic").err
    assert "made 0 round trips a chain; more steps (task.steps) would help.\n" in said
    assert call(*tempered, ladder, "task.steps=3").err == "", "named once"
    said = call("-m", *tempered, ladder, "task.steps=4,5,400").err
    assert said.startswith(
        "warning: 2 of 3 tempered runs are too short for the ladder: the shortest, pt_gibbs on "
    )


def test_replicas_that_hardly_ever_swap_are_told_of_in_place_of_steps(call: Call) -> None:
    cold = (
        "target=ising",
        "target.size=6",
        "target.coupling=2.0",
        "sampler=pt_gibbs",
        "sampler.ladder=[1,0]",
    )
    short = ("metric=[round_trips,swap_rate]", "task.chains=3", "task.steps=1200", "task.burn_in=1000")
    said = call(*cold, *short).err
    assert said.endswith("hardly ever swap, so that more replicas or a longer ladder would help.\n")


def test_results_that_were_removed_meanwhile_are_missed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = launch.launched

    def removed(*arguments: object) -> Outcome:
        outcome = whole(*arguments)  # type: ignore[arg-type]
        shutil.rmtree("outputs")
        return outcome

    with monkeypatch.context() as patched:
        patched.setattr(launch, "launched", removed)
        ended = call("-m", *SMALL)
    assert ended.status == 1
    assert ended.err == (
        f"error: 2 of the runs that were done are gone: {Path('outputs/runs')} was removed meanwhile; "
        "repeat the command.\n"
    )
    assert ended.out == "0 runs done.\n"
    assert call("-m", *SMALL).out.endswith("2 runs done.\n")


def test_a_sweep_by_ones_own_sweeper_says_what_failed(call: Call, tmp_path: Path) -> None:
    own = tmp_path / "conf" / "hydra" / "sweeper" / "mine.yaml"
    own.parent.mkdir(parents=True)
    basic = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
    own.write_text(f"_target_: {basic}\nmax_batch_size: null\nparams: null\n")
    sweep = ("-m", "hydra/sweeper=mine", "--config-dir", str(own.parents[2]), *SMALL, "sampler=dula")
    ended = call(*sweep, "sampler.step_size=0.2,-1")
    assert (ended.status, ended.out) == (1, "2 runs done, 2 failed.\n")
    assert ended.err.startswith("failed: ")
    assert "sampler.step_size=-1 'seed=[0,1]'" in ended.err
