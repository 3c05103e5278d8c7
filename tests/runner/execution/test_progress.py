"""How far work is said to be, and how long it still takes."""

from __future__ import annotations

import time

import pytest

from runner.execution import progress
from runner.execution.progress import Progress, sweep_line
from runner.execution.reached import Pace, Reached, left_of_runs


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, the only element, which the test sets."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("counts", "now", "left"),
    [
        ([(0, 100.0), (1, 130.0)], 130.0, 30.0 * 15),
        ([(0, 0.0), (4, 40.0), (8, 80.0)], 80.0, 80.0),
        ([(0, 0.0), (4, 40.0), (8, 80.0)], 120.0, 160.0),
        ([(0, 0.0), (1, 1000.0), (2, 1010.0), (4, 1030.0), (8, 1070.0)], 1070.0, 80.0),
        ([(12, 0.0), (13, 30.0)], 30.0, 90.0),
        ([(0, 0.0), (16, 5.0)], 5.0, 0.0),
        ([(3, 100.0)], 130.0, None),
    ],
    ids=["the first run", "steady", "nothing since", "after a pause", "most done before", "done", "none"],
)
def test_the_time_left_is_that_of_the_last_half(
    counts: list[tuple[int, float]], now: float, left: float | None
) -> None:
    assert left_of_runs(counts, 16, now) == pytest.approx(left)


def test_runs_of_processes_side_by_side_end_together() -> None:
    counts = [(0, 0.0), (1, 1000.0), (2, 1030.0), (3, 2000.0), (4, 2030.0), (6, 3030.0)]
    for ended in (3, 5):
        done, now = counts[ended - 1]
        assert left_of_runs(counts[:ended], 10, now, at_once=2) == pytest.approx(now / done * (10 - done))
    assert left_of_runs(counts, 10, 3030.0, at_once=2) == pytest.approx(2000.0)


def test_the_first_block_of_work_is_left_out_of_its_rate(clock: list[float]) -> None:
    pace = Pace("learning", 100, 10)
    clock[0] = 60.0  # the step was compiled
    assert pace.at(20) == Reached("learning", 20, 100, None)
    clock[0] = 65.0
    assert pace.at(30) == Reached("learning", 30, 100, pytest.approx(35.0))
    assert str(pace.at(40, 1100, "annealing")) == "annealing: 40 of 1,100, about 4 min 25 s left"


FAST, SLOW, NEW = Reached("a", 3, 4, 5.0), Reached("b", 1, 4, 90.0), Reached("c", 0, 4)


@pytest.mark.parametrize(
    ("left", "works", "line"),
    [
        (80.0, [], "2 of 10 runs, about 1 min 20 s left"),
        (None, [SLOW], "2 of 10 runs; b: 1 of 4, about 1 min 30 s left"),
        (
            None,
            [FAST, SLOW],
            "2 of 10 runs; 2 processes at work, the last to finish: b: 1 of 4, about 1 min 30 s left",
        ),
        (
            80.0,
            [FAST, NEW, SLOW],
            "2 of 10 runs, about 1 min 20 s left; 3 processes at work, the last to finish: c: 0 of 4",
        ),
    ],
)
def test_the_line_of_a_sweep(left: float | None, works: list[Reached], line: str) -> None:
    assert sweep_line(2, 10, left, works) == line


def test_a_process_without_a_terminal_of_its_own_notes_its_work_now_and_then(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[Reached] = []
    silent = Progress()
    with silent.noted_by(heard.append):
        silent.start("learning", 100, 0)
        for seconds in range(1, 26):
            clock[0] = float(seconds)
            silent.at(seconds)
    silent.at(100)
    assert [work.step for work in heard] == [1, 11, 21]
    assert heard[-1].left == pytest.approx(79.0)
    assert capsys.readouterr() == ("", "")


def test_a_new_piece_of_work_is_noted_at_once(clock: list[float]) -> None:
    heard: list[Reached] = []
    silent = Progress()
    with silent.noted_by(heard.append):
        for title in ("learning", "annealing"):
            silent.start(title, 100, 0)
            clock[0] += 1.0
            silent.at(5)
    assert [work.title for work in heard] == ["learning", "annealing"]


def test_a_bar_says_how_long_the_rest_takes(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress() as shown:
        shown.start("learning", 100, 0)
        for seconds, step in ((60.0, 10), (65.0, 20)):
            clock[0] = seconds
            shown.at(step)
        assert shown._bars is not None
        (task,) = shown._bars.tasks
        assert (task.description, task.completed, task.total) == ("learning", 20, 100)
        assert task.fields == {"rate": "2 steps/s", "left": "40 s left"}
        shown.stop()
        assert not shown._bars.tasks


def test_a_terminal_shows_a_bar_for_each_other_process() -> None:
    works = [Reached(f"work {number}", number, 20, float(number)) for number in range(12)]
    shown = Progress()
    with progress.Bars(*progress.columns()) as bars:
        for now in (works, works[3:5], works[:1]):
            shown._show_others(bars, now)
            titles = [task.description for task in bars.tasks]
            assert titles == [work.title for work in now[: progress.SHOWN_BARS]]
            assert [task.completed for task in bars.tasks] == [work.step for work in now[:8]]
