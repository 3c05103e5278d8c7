"""Commands run in this process, what they leave behind, and what is refused before any work."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runner import status, table
from runner.__main__ import main
from runner.execution import signals
from runner.execution.errors import UserError
from runner.files.checkpoint import load_checkpoint
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight
from runner.tasks.likelihood.annealings import Annealings

FORK = multiprocessing.get_context("fork")

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=3")
"""The arguments of a short run."""

TIMES = ("ais_seconds", "fitting_seconds", "sampling_seconds", "classifier_seconds")
"""Values that differ between two runs of the same numbers."""


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Ended]
"""The fixture `call`: runs the command line."""


def finished(root: Path, *argv: str) -> Path:
    """`root`, the output root of a command that has ended well; for fixtures that outlive a test."""
    handlers = {number: signal.getsignal(number) for number in signals.SIGNALS}
    assert main((*argv, f"output_root={root}")) == 0
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return root


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_child(argv: Sequence[str], before: Callable[[], Any] = lambda: None) -> BaseProcess:
    """The command in a forked process, which has torch already, after `before`."""

    def child() -> None:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        before()
        os._exit(main(argv))

    process = FORK.Process(target=child)
    process.start()
    return process


def one(pattern: str, root: str | Path = "outputs") -> Path:
    """The only file under `root` that fits."""
    (path,) = Path(root).glob(pattern)
    return path


def summary(root: str | Path = "outputs") -> dict[str, Any]:
    """The summary of the only run."""
    found: dict[str, Any] = json.loads(one("runs/*/summary.json", root).read_text())
    return found


def measured(root: str | Path = "outputs") -> dict[str, float]:
    """What the only run measured, without times."""
    return {name: value for name, value in summary(root)["metrics"].items() if name not in TIMES}


def rows_by_run(root: str | Path = "outputs") -> dict[str, list[tuple[str, ...]]]:
    """Seed, step, evaluations, metric and value of every row but times, by run id."""
    keys = ("seed", "step", "evaluations", "metric", "value")
    return {
        path.parent.name: [
            tuple(row[key] for key in keys)
            for row in csv.DictReader(path.read_text().splitlines())
            if row["metric"] not in TIMES
        ]
        for path in sorted(Path(root).glob("runs/*/metrics.csv"))
    }


def rows(*roots: str | Path) -> list[tuple[str, ...]]:
    """The rows of `rows_by_run` of all runs under `roots`, by default ``outputs``, sorted."""
    return sorted(
        row for root in roots or ["outputs"] for found in rows_by_run(root).values() for row in found
    )


def stop_after(monkeypatch: pytest.MonkeyPatch, cls: type, calls: int) -> None:
    """Lets a SIGTERM come in during the given call of `cls.advance`."""
    advance, seen = cls.advance, []  # type: ignore[attr-defined]

    def interrupted(self: Any, *arguments: Any, **options: Any) -> None:
        advance(self, *arguments, **options)
        seen.append(1)
        if len(seen) == calls:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(cls, "advance", interrupted)


def stopped_in_each(
    call: Call, monkeypatch: pytest.MonkeyPatch, cls: Any, calls: dict[str, int], command: Iterable[str]
) -> list[int]:
    """The steps of all annealings of `command`, of class `cls`, which is stopped in each, and then repeated.

    Args:
        calls: during which call of `cls.advance` it is stopped, by the name of an annealing.
    """
    advance, seen = cls.advance, []

    def noted(self: Any, steps: int) -> None:
        advance(self, steps)
        seen.append(self.step)

    monkeypatch.setattr(cls, "advance", noted)
    for place, number in enumerate(calls.values()):
        with monkeypatch.context() as patch:
            stop_after(patch, cls, number)
            assert call(*command).status == 75
        signals.forget()
        checkpoint = one("runs/*/checkpoint.pt")
        assert list(load_checkpoint(checkpoint)["annealings"]) == list(calls)[: place + 1]
    assert call(*command).status == 0
    assert not checkpoint.exists()
    return seen


def earlier_attempts_take(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Lets annealings that are taken up from a checkpoint have been walked for so long before."""
    load = Annealings.load_state_dict
    monkeypatch.setattr(
        Annealings, "load_state_dict", lambda self, saved: load(self, {**saved, "seconds": seconds})
    )


def counted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[str]:
    """A list that gets an entry at each call of a function of a module."""
    function, calls = getattr(module, name), []

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, called)
    return calls


def refusal(*lines: str) -> str:
    """The one sentence with which a command (`-m` among its words) is refused before any work."""
    words = [word for line in lines for word in line.split()]
    with pytest.raises(UserError) as error:
        preflight(jobs_of(requested([word for word in words if word != "-m"], multirun="-m" in words)))
    said = str(error.value)
    assert error.value.status == 2
    assert "\n" not in said
    return said


def refused_before_any_run(*lines: str) -> str:
    """The sentence of `refusal`, after which there is no run in the current folder."""
    said = refusal(*lines)
    assert not list(Path().glob("outputs/runs/*"))
    return said


def check_refused_values(lines: str, key: str, allowed: str, values: str) -> None:
    """Checks that under `lines` each of `values`, written as Python prints it, is refused for `key`."""
    for value in values.split():
        assert refusal(lines, f"{key}={value}") == f"{key} must be {allowed}, {value} was given."


def refused(call: Call, *lines: str) -> str:
    """The sentence with which a whole command is refused, its form checked, and that no file changed."""
    before = contents(Path())
    ended = call(*(word for line in lines for word in line.split()))
    assert ended.status == 2, ended
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert contents(Path()) == before
    return ended.err


def contents(folder: Path) -> dict[Path, bytes]:
    """All files in `folder`."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(plain: Iterable[str], cases: Iterable[tuple[str, str]]) -> None:
    """Each case, overrides and words, beside the overrides `plain` is refused with these words."""
    for given, words in cases:
        said = refusal(*plain, *given.split())
        assert words in said, f"{given}: {said}"


def assert_left_out(said: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two runs under `root` one is done; the other is counted, and `said` of it by both commands."""
    capsys.readouterr()
    assert status.main(["runs", f"output_root={root}"]) == 0
    out = capsys.readouterr().out
    assert said in out
    counts = [line.split("│")[3:-1] for line in out.splitlines() if line.startswith("│")]
    assert [[text.strip() for text in line] for line in counts] == [["1", ""], ["", "1"], ["1", "1"]]
    assert table.main(["runs", f"output_root={root}"]) == 0
    assert said in capsys.readouterr().out
