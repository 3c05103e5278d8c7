"""The one loop of resumable work: stopped at every step, killed, given garbage, failing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from runner.execution import signals
from runner.execution.errors import RunError
from runner.files.checkpoint import load_checkpoint, save_checkpoint
from runner.files.resumable import SavePlan, completed, run_to_end

LENGTH = 7


class Walk:
    """A random walk of `LENGTH` steps; `during` is called within each step."""

    title, total = "a walk", LENGTH

    def __init__(self, during: Callable[[int], object] = lambda step: None) -> None:
        self.generator = torch.Generator().manual_seed(3)
        self.place, self.position, self.during = torch.zeros(2), 0, during

    @property
    def done(self) -> bool:
        return self.position >= self.total

    def advance(self) -> None:
        self.place += torch.randn(2, generator=self.generator)
        self.position += 1
        self.during(self.position)

    def state_dict(self) -> dict[str, Any]:
        return {"place": self.place.clone(), "step": self.position, "stream": self.generator.get_state()}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        self.position = saved["step"]  # first of all, so that a damaged state is half loaded
        self.place.copy_(saved["place"])
        self.generator.set_state(saved["stream"])


def whole() -> torch.Tensor:
    walk = Walk()
    while not walk.done:
        walk.advance()
    return walk.place


def stop(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    signals.listen()
    return tmp_path / "checkpoint.pt"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
@pytest.mark.parametrize("at", range(1, LENGTH + 1))
def test_stopped_at_any_step_it_ends_the_same(path: Path, at: int, number: int) -> None:
    plan, steps = SavePlan(path, seconds=1e9), []

    def during(step: int) -> None:
        steps.append(step)
        if len(steps) == at:
            stop(number)

    with pytest.raises(signals.Interrupted), completed(lambda: Walk(during), plan):
        pytest.fail("it went on after the signal")
    assert load_checkpoint(path)["step"] == at
    signals.forget()
    with completed(lambda: Walk(during), plan) as walk:
        assert torch.equal(walk.place, whole())
        assert path.exists(), "the result is not written yet"
    assert not path.exists()
    assert steps == list(range(1, LENGTH + 1)), "a step was made twice"


def test_stopped_after_every_single_step(path: Path) -> None:
    for step in range(1, LENGTH + 1):
        with (
            pytest.raises(signals.Interrupted),
            completed(lambda: Walk(lambda _: stop()), SavePlan(path, 1e9)),
        ):
            pass
        assert load_checkpoint(path)["step"] == step
        signals.forget()
    assert torch.equal(run_to_end(Walk, SavePlan(path, 1e9)).place, whole())
    assert load_checkpoint(path)["step"] == LENGTH, "the caller removes the checkpoint"


def _until_killed(path: Path, at: int) -> None:
    with completed(lambda: Walk(lambda step: step == at and stop(signal.SIGKILL)), SavePlan(path, 0.0)):
        pass


@pytest.mark.parametrize("at", [1, 4, LENGTH])
def test_killed_it_loses_what_was_not_saved_and_ends_the_same(path: Path, at: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=_until_killed, args=(path, at))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert path.exists() == (at > 1)
    with completed(Walk, SavePlan(path, 0.0)) as walk:
        assert torch.equal(walk.place, whole())


def saved_steps(plan: SavePlan, monkeypatch: pytest.MonkeyPatch, **work: Any) -> list[int]:
    steps: list[int] = []
    monkeypatch.setattr(SavePlan, "save", lambda self, state: steps.append(state["step"]))
    with completed(lambda: Walk(**work), plan):
        return steps


@pytest.mark.parametrize(
    ("seconds", "steps", "expected"),
    [(0.0, None, [1, 2, 3, 4, 5, 6, 7]), (1e9, None, []), (1e9, 1, [1, 2, 3, 4, 5, 6, 7]), (1e9, 3, [3, 6])],
)
def test_when_it_is_saved(
    path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, steps: int | None, expected: list[int]
) -> None:
    assert saved_steps(SavePlan(path, seconds, steps), monkeypatch) == expected


def test_seconds_are_counted_from_the_last_save(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def second(step: int) -> None:
        clock[0] += 1.0

    assert saved_steps(SavePlan(path, 3.0), monkeypatch, during=second) == [3, 6]


def broken(state: dict[str, Any], *without: str, **other: Any) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key not in without} | other


GARBAGE: dict[str, Callable[[Path, dict[str, Any]], object]] = {
    "truncated": lambda path, state: (
        save_checkpoint(path, state),
        path.write_bytes(path.read_bytes()[:-40]),
    ),
    "empty": lambda path, state: path.write_bytes(b""),
    "a part is missing": lambda path, state: save_checkpoint(path, broken(state, "stream")),
    "another shape": lambda path, state: save_checkpoint(path, broken(state, place=torch.zeros(3))),
    "another type": lambda path, state: save_checkpoint(path, broken(state, place="here")),
    "another owner": lambda path, state: save_checkpoint(path, broken(state, owner="she")),
    "no owner": lambda path, state: save_checkpoint(path, broken(state, "owner")),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_is_set_aside_and_work_restarts(
    path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    walk = Walk()
    walk.advance()
    GARBAGE[kind](path, {"owner": "he", **walk.state_dict()})
    garbage = path.read_bytes()
    with completed(Walk, SavePlan(path, 1e9, owner={"owner": "he"})) as walk:
        assert torch.equal(walk.place, whole())
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"warning: the checkpoint {path} cannot be used: it ")
    assert warning.endswith("the work starts from the beginning.")
    assert path.with_name("checkpoint.bad-1.pt").read_bytes() == garbage
    assert not path.exists()


def test_an_owner_is_written_and_found_again(path: Path) -> None:
    plan = SavePlan(path, 1e9, owner={"owner": "he"})
    with pytest.raises(signals.Interrupted), completed(lambda: Walk(lambda _: stop()), plan):
        pass
    assert load_checkpoint(path)["owner"] == "he"
    signals.forget()
    seen: list[int] = []
    with completed(lambda: Walk(seen.append), plan) as walk:
        assert torch.equal(walk.place, whole())
    assert seen == list(range(2, LENGTH + 1))


@pytest.mark.parametrize(("after_failure", "expected"), [(True, 4), (False, None)])
def test_a_failure_keeps_the_state_before_it_where_the_plan_says_so(
    path: Path, after_failure: bool, expected: int | None
) -> None:
    def during(step: int) -> None:
        if step == 5:
            raise RunError("It diverged.")

    plan = SavePlan(path, 1e9, after_failure=after_failure)
    with pytest.raises(RunError, match="diverged"), completed(lambda: Walk(during), plan):
        pytest.fail("it went on after the failure")
    assert (load_checkpoint(path)["step"] if path.exists() else None) == expected
    with completed(Walk, plan) as walk:
        assert torch.equal(walk.place, whole())


def test_a_result_that_cannot_be_written_keeps_the_checkpoint(path: Path) -> None:
    with pytest.raises(OSError, match="full"), completed(Walk, SavePlan(path, 0.0)):
        raise OSError("the disk is full")
    assert load_checkpoint(path)["step"] == LENGTH


def test_a_signal_while_the_result_is_written_waits(path: Path) -> None:
    with completed(Walk, SavePlan(path, 1e9)) as walk:
        stop()
        result = walk.place.clone()
    assert torch.equal(result, whole())
    with pytest.raises(signals.Interrupted):
        signals.obey()


def test_a_second_interrupt_does_not_wait_and_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def during(step: int) -> None:
        stop(signal.SIGINT)
        monkeypatch.setattr(signals, "ECHO_SECONDS", 0.0)
        stop(signal.SIGINT)
        pytest.fail("it waited for the end of the block")

    with (
        pytest.raises(signals.Interrupted, match=r"^a second SIGINT, before the work since the last "),
        completed(lambda: Walk(during), SavePlan(path, 1e9)),
    ):
        pass
    assert not path.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_twice_at_once_saves(path: Path, number: int) -> None:
    """As of a wrapper that passes on what the terminal has sent to the whole group; also at the end."""

    def during(step: int) -> None:
        stop(number)
        stop(number)

    with (
        pytest.raises(signals.Interrupted, match=rf"^{signal.Signals(number).name}$"),
        completed(lambda: Walk(during), SavePlan(path, 1e9)),
    ):
        pytest.fail("it went on after the signal")
    stop(number)
    assert load_checkpoint(path)["step"] == 1


def test_what_a_killed_process_left_half_written_is_removed(path: Path) -> None:
    half, other = path.with_name("checkpoint.pt.77.partial"), path.with_name("model.json.78.partial")
    half.touch()
    other.touch()  # of another lock's holder, who may be writing it now
    with completed(Walk, SavePlan(path, seconds=1e9)) as walk:
        assert torch.equal(walk.place, whole())
    assert list(path.parent.iterdir()) == [other]
