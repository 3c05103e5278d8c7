"""Kills leave every number as it would have been; and the trials see it where they do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.sweep.jobs import Job
from tests.corruption.stores import repeated
from tests.robustness import kills, measure, rows
from tests.robustness.kills import EVENT, KINDS, SWEEPS, Killed
from tests.robustness.trial import Trial


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return Killed(next(iter(SWEEPS.values())), tmp_path_factory.mktemp("killed"))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_doubled_or_changed(killed: Killed, kind: str) -> None:
    chance = random.Random(1)
    for _ in range(2):
        trial = killed.trial(kind, chance)
        assert trial.outcome == "clean", trial


def test_the_shim_sees_every_kind_of_write(killed: Killed) -> None:
    """Files of two runs and a tuned result are flushed, renamed, locked, and checkpoints removed."""
    assert killed.events[kills.WRITE] > 15
    assert killed.events[EVENT] > 3 * killed.events[kills.WRITE]


def lines_twice(root: Path) -> None:
    for path in root.glob("runs/*/metrics.csv"):
        path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")


def another_number(root: Path) -> None:
    for path in root.glob("runs/*/metrics.csv"):
        path.write_text(path.read_text().replace("0.", "1."))


def gone(root: Path) -> None:
    for path in root.glob("runs/*/visits.npz"):
        path.unlink()


def broken(root: Path) -> None:
    raise RuntimeError("on purpose")


@pytest.mark.parametrize(
    ("then", "outcome"),
    [(lines_twice, "doubled"), (another_number, "silent"), (gone, "lost"), (broken, "traceback")],
)
def test_a_sweep_that_ends_wrong_is_seen(
    killed: Killed, monkeypatch: pytest.MonkeyPatch, then: Callable[[Path], None], outcome: str
) -> None:
    """Power: the repeated command does harm at its end."""

    def harmful(job: Job) -> tuple[int, str]:
        ended = repeated(job)
        then(killed.root)
        return ended

    monkeypatch.setattr(kills, "repeated", harmful)
    assert killed.trial(EVENT, random.Random(3)).outcome == outcome


def test_a_finished_run_that_is_done_again_is_seen(killed: Killed) -> None:
    path = killed.root / "runs" / "x" / "summary.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("new")
    assert killed._judged(0, "", {path: b"old"}, [])[0] == "doubled"
    assert killed._judged(0, "", {}, [path])[0] == "lost"
    assert killed._judged(1, "", {}, [])[0] == "lost"


def test_a_measurement_continues_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def made(number: int, part: str, seed: int = 0) -> list[Trial]:
        asked.append((number, part, seed))
        return [Trial(part, "clean", "")] * (number - 1) + [Trial(part, "silent" if seed else "clean", "!")]

    row = rows.Row("one", "things broken", {"first": 10, "second": 1000}, made)  # type: ignore[arg-type]
    monkeypatch.setattr(measure, "ROWS", (row,))
    kept = ["--kept", str(tmp_path / "kept.json")]
    assert measure.main([*kept, "--scale", "0.01"]) == 0
    assert measure.main([*kept, "--only", "two"]) == 0
    assert measure.main(kept) == 1
    assert asked == [(1, "first", 0), (10, "second", 0), (9, "first", 1), (990, "second", 10)]
    capsys.readouterr()
    assert measure.main([*kept, "--show"]) == 1
    assert len(asked) == 4
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("| `one` | things broken | 1,010 | 0 | 0 | 2 | 0 | 0.0 | ")
    assert (tmp_path / "kept.md").read_text().splitlines()[-1] == last


@pytest.mark.slow
@pytest.mark.parametrize("row", [row.name for row in rows.ROWS if row.name != "files"])
def test_every_row_of_the_table(row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but the damaged files, which `tests.corruption` has."""
    status = measure.main(["--only", row, "--kept", str(tmp_path / "kept.json")])
    assert status == 0, capsys.readouterr().out
