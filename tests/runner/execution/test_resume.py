"""A sweep that is killed, again and again, ends with the numbers of one that was not."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runner.files.checkpoint import load_checkpoint
from runner.files.locks import held
from runner.store.run_store import Store
from runner.sweep import job_runner
from runner.sweep.run_batch import BatchElsewhereError
from runner.tasks.sample import Sampling
from tests.support.commands import Call, in_child, rows_by_run

ROOT = Path(__file__).parents[3]
PATIENCE = 600
"""Seconds after which a child counts as hanging; how fast it is, is no matter of these tests."""
SWEEP = (
    "-m",
    "target=bernoulli4,mog",
    "sampler=dmala,pt_gibbs",
    "seed=range(0,3)",
    "metric=[tv,acceptance,jump]",
    "task.chains=5",
    "task.steps=800",
    "task.record=3",
    "checkpoint.steps=15",
    "dtype=float64",
)

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=[tv,jump]", "task.chains=4")
LONG = (*SMALL, "task.steps=6000", "seed=[3,1]")
BEGUN = "begun"

Results = dict[str, list[tuple[str, ...]]]


def to_its_end(folder: Path, argv: tuple[str, ...]) -> Results:
    """The results after the command, in a forked process, has succeeded."""
    process = in_child(argv, partial(os.chdir, folder))
    process.join(PATIENCE)
    assert process.exitcode == 0
    return rows_by_run(folder / "outputs")


def in_new_process(folder: Path, argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """The command as a user gives it."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "runner", *argv]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def newest(folder: Path) -> float:
    """When a checkpoint was last written."""
    times = [0.0]
    for path in folder.glob("outputs/runs/*/checkpoint.pt"):
        with suppress(FileNotFoundError):
            times.append(path.stat().st_mtime)
    return max(times)


def killed_at_its_checkpoint(folder: Path, argv: tuple[str, ...]) -> tuple[Path, bytes]:
    """The checkpoint that the command leaves when it is killed with one of them, and its content."""
    process = in_child(argv, partial(os.chdir, folder))
    wait(lambda: bool(list(folder.glob("outputs/runs/*/checkpoint.pt"))))
    process.kill()
    process.join()
    (left,) = folder.glob("outputs/runs/*/checkpoint.pt")
    return left, left.read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of the sweep when nothing happens to it."""
    found = to_its_end(tmp_path_factory.mktemp("uninterrupted"), SWEEP)
    assert len(found) == 12
    return found


@pytest.mark.parametrize("wanted", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path: Path, uninterrupted: Results, wanted: int) -> None:
    moments = random.Random(20261121)
    kills, resumable = 0, 0
    while kills < wanted:
        started = time.time()
        process = in_child(SWEEP, partial(os.chdir, tmp_path))
        if kills % 2:
            # Half of the kills hit it at work, however long it takes to get there.
            wait(lambda at=started, it=process: it.exitcode is not None or newest(tmp_path) > at)  # type: ignore[misc]
        process.join(moments.uniform(0, 0.3 if kills % 2 else 1.0))
        if process.exitcode is None:
            process.kill()
            kills += 1
        process.join()
        if process.exitcode == 0:
            break
        resumable += bool(list(tmp_path.glob("outputs/runs/*/checkpoint.pt")))
        assert process.exitcode == -signal.SIGKILL
        for path in tmp_path.glob("outputs/runs/*"):
            summary = Store(tmp_path / "outputs").run(path.name).summary()
            assert summary is not None or not (path / "summary.json").exists(), "a summary is half written"
    assert kills >= wanted // 2, "the sweep is too short for this test"
    assert resumable >= wanted // 4, "the runs are too short to be cut in the middle"
    assert to_its_end(tmp_path, SWEEP) == uninterrupted
    assert not list(tmp_path.glob("outputs/runs/*/*.partial"))
    assert not list(tmp_path.glob("outputs/runs/*/checkpoint*"))


def test_a_checkpoint_left_beside_finished_runs_is_removed(tmp_path: Path, uninterrupted: Results) -> None:
    """As of a process that was killed between the last summary of a batch and the end of its checkpoint."""
    left, content = killed_at_its_checkpoint(tmp_path, SWEEP)
    assert to_its_end(tmp_path, SWEEP) == uninterrupted
    left.write_bytes(content)
    assert to_its_end(tmp_path, SWEEP) == uninterrupted
    assert not left.exists()


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 75), pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.slow)],
)
def test_the_command_line_stopped_and_repeated(
    tmp_path: Path, uninterrupted: Results, number: signal.Signals, status: int
) -> None:
    """The same as a user calls it, in a process of its own."""
    process = in_new_process(tmp_path, SWEEP)
    wait(lambda: bool(list(tmp_path.glob("outputs/runs/*/checkpoint.pt"))))
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    if number == signal.SIGTERM:
        assert said.decode().splitlines()[-1] == "Stopped by SIGTERM; repeat the command to continue."
    assert list(tmp_path.glob("outputs/runs/*/checkpoint.pt"))
    assert to_its_end(tmp_path, SWEEP) == uninterrupted


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return to_its_end(tmp_path_factory.mktemp("straight"), LONG)


def with_sign_of_steps(folder: Path) -> None:
    """Makes a forked process work in `folder`, and write an empty file there after its first steps."""
    advance = Sampling.advance

    def noted(work: Sampling) -> None:
        advance(work)
        (folder / BEGUN).touch()

    os.chdir(folder)
    Sampling.advance = noted  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_a_signal_saves_first_and_exits_75(tmp_path: Path, straight: Results, number: signal.Signals) -> None:
    process = in_child(LONG, partial(with_sign_of_steps, tmp_path))
    wait((tmp_path / BEGUN).exists)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(PATIENCE)
    assert process.exitcode == 75
    (checkpoint,) = tmp_path.glob("outputs/runs/*/checkpoint.pt")
    saved = load_checkpoint(checkpoint)
    assert 0 < saved["step"] < 6000
    assert {Store(tmp_path / "outputs").run(name).status() for name in saved["run_ids"]} == {"interrupted"}
    assert to_its_end(tmp_path, LONG) == straight
    assert not checkpoint.exists()


def test_two_processes_on_one_sweep(tmp_path: Path, uninterrupted: Results) -> None:
    both = [in_child(SWEEP, partial(os.chdir, tmp_path)) for _ in range(2)]
    for process in both:
        process.join(PATIENCE)
    # The one that ends first leaves the last runs to the other.
    assert sorted(process.exitcode or 0 for process in both) in ([0, 0], [0, 3])
    assert rows_by_run(tmp_path / "outputs") == uninterrupted
    store = Store(tmp_path / "outputs")
    workers = set()
    for name in rows_by_run(tmp_path / "outputs"):
        manifest = store.run(name).manifest()
        assert manifest is not None
        (attempt,) = manifest["attempts"]
        workers.add(attempt["process"])
    assert len(workers) == 2, "one process did all the work: the test shows nothing"


def test_a_batch_that_was_killed_between_two_results(tmp_path: Path) -> None:
    """Some seeds of a batch are written, the others are not: they go on from the batch's checkpoint."""
    argv = (*SMALL, "task.steps=120", "seed=[0,1,2]", "checkpoint.steps=1")
    checkpoint, saved = killed_at_its_checkpoint(tmp_path, argv)
    expected = to_its_end(tmp_path, argv)
    # The disk as the kill would have left it: the first result is there, the checkpoint still is.
    checkpoint.write_bytes(saved)
    store = Store(tmp_path / "outputs")
    for name in expected:
        if name != checkpoint.parent.name:
            (store.run(name).path / "summary.json").unlink()
    before = (checkpoint.parent / "summary.json").stat().st_mtime_ns
    assert to_its_end(tmp_path, argv) == expected
    assert (checkpoint.parent / "summary.json").stat().st_mtime_ns == before
    assert not checkpoint.exists()
    for name in expected:
        summary = store.run(name).summary()
        assert summary is not None
        assert summary["batch"] == 3


@pytest.mark.parametrize("seeds", ["[0,1]", "0"])
def test_a_part_of_an_interrupted_batch_leaves_its_checkpoint(seeds: str, call: Call, tmp_path: Path) -> None:
    argv = (*SMALL, "task.steps=120", "checkpoint.steps=1")
    checkpoint, saved = killed_at_its_checkpoint(tmp_path, (*argv, "seed=[0,1,2]"))
    ended = call(*argv, f"seed={seeds}")
    assert ended.status == 1
    assert "part of an interrupted batch; go on with seed=[0,1,2], or remove its checkpoint" in ended.err
    assert "repeat: python -m runner" in ended.err
    assert " 'seed=[0,1,2]'" in ended.err
    assert checkpoint.read_bytes() == saved
    assert call(*argv, "seed=2").status == 0  # it has no checkpoint of its own
    assert checkpoint.read_bytes() == saved
    together = to_its_end(tmp_path, (*argv, "seed=[0,1,2]"))
    assert not list(tmp_path.rglob("checkpoint*"))
    assert call(*argv, "seed=[0,1,2]", "output_root=whole").status == 0
    assert together == rows_by_run(tmp_path / "whole")


def test_a_batch_of_which_another_process_has_a_run_is_left_to_it(call: Call, tmp_path: Path) -> None:
    argv = (*SMALL, "task.steps=120", "checkpoint.steps=1", "seed=[0,1,2]")
    checkpoint, saved = killed_at_its_checkpoint(tmp_path, argv)
    other = next(path for path in tmp_path.glob("outputs/runs/*") if path != checkpoint.parent)
    with held(other / "lock"):
        ended = call(*argv)
    assert ended.status == 3
    assert "3 runs are left to process" in ended.err
    assert checkpoint.read_bytes() == saved
    assert call(*argv).status == 0
    assert not list(tmp_path.rglob("checkpoint*"))


def test_a_run_that_ends_between_the_look_and_the_lock(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process ends the run after this one has found it missing: it is not done again."""
    argv = (*SMALL, "task.steps=20")
    call(*argv, "output_root=theirs")
    take_locks = job_runner.take_locks

    def late(*arguments: Any) -> Any:
        shutil.copytree("theirs/runs", "outputs/runs", dirs_exist_ok=True)
        return take_locks(*arguments)

    monkeypatch.setattr(job_runner, "take_locks", late)
    ended = call(*argv)
    assert "done before" in ended.out
    (manifest,) = tmp_path.glob("outputs/runs/*/manifest.json")
    assert len(json.loads(manifest.read_text())["attempts"]) == 1


def test_seeds_of_a_batch_elsewhere_are_named() -> None:
    path = Path("checkpoint.pt")
    assert str(BatchElsewhereError(path, [0])).startswith("The seed 0 is part of an interrupted batch; go on")
    assert str(BatchElsewhereError(path, [0, 2], [0, 1, 2])).startswith("The seeds 0, 2 are part of an ")
