"""Commands run in this process, what they leave in an output root, and what is refused before them."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hydra.core.global_hydra import GlobalHydra

from runner.__main__ import main
from runner.config.compose import compose_by_groups
from runner.config.overrides import Names
from runner.execution import signals
from runner.execution.errors import UserError
from runner.problem.problems import Problems
from runner.tasks.task import task_of

TIMES = ("ais_seconds", "fitting_seconds", "sampling_seconds", "classifier_seconds")
"""Values that differ between two runs of the same numbers."""


def finished(root: Path, *argv: str) -> Path:
    """`root`, the output root of a command that has ended well; for fixtures that outlive a test."""
    handlers = {number: signal.getsignal(number) for number in signals.SIGNALS}
    GlobalHydra.instance().clear()
    assert main((*argv, f"output_root={root}")) == 0
    GlobalHydra.instance().clear()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return root


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

    def interrupted(self: Any, *arguments: Any) -> None:
        advance(self, *arguments)
        seen.append(1)
        if len(seen) == calls:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(cls, "advance", interrupted)


def refusal(*overrides: str) -> str:
    """The one sentence with which the task of a configuration refuses it before any work."""
    config = compose_by_groups(overrides, Names([]).groups)
    with pytest.raises(UserError) as raised:
        task_of(config).check(config, Problems())
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


def assert_refused(plain: Iterable[str], cases: Iterable[tuple[str, str]]) -> None:
    """Each case, overrides and words, beside the overrides `plain` is refused with these words."""
    for given, words in cases:
        said = refusal(*plain, *given.split())
        assert words in said, f"{given}: {said}"
