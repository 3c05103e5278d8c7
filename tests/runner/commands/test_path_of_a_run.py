"""How far it is from `main` to the first step of a kernel, and that nothing on the way is done twice."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.support.commands import Call

RUNNER = str(Path(__file__).parents[3] / "runner") + "/"
MOST_FUNCTIONS, MOST_FILES = 15, 12

ONCE = {
    "runner/config/compose.py compose_by_groups",
    "runner/tasks/run_identity.py run_ids",
    "runner/tasks/run_identity.py run_identity",
    "runner/sweep/preflight.py preflight",
    "runner/problem/build.py build",
    "runner/problem/build.py build_target",
    "runner/problem/build.py build_kernel",
}


class Watch:
    """Counts the calls of the runner's functions, and keeps those on the stack at the first step."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.calls: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        path = frame.f_code.co_filename
        if path.startswith(RUNNER):
            self.calls[place(frame)] += 1
        elif frame.f_code.co_name == "step" and "/samplers/" in path and not self.stack:
            above = frame.f_back
            while above is not None:
                if above.f_code.co_filename.startswith(RUNNER):
                    self.stack.insert(0, place(above))
                above = above.f_back


def place(frame: FrameType) -> str:
    """File and function: ``runner/sweep/launch.py run_one``."""
    return f"runner/{frame.f_code.co_filename.removeprefix(RUNNER)} {frame.f_code.co_qualname}"


@pytest.mark.parametrize(
    "argv",
    [
        ("sampler=gibbs",),
        ("sampler=dmala",),  # its first step is one of a pilot
        ("sampler=gibbs", "seed=[0,1]"),
        ("sampler=pt_gibbs", "sampler.ladder=[1,0.5]"),
    ],
    ids=" ".join,
)
def test_few_functions_lie_between_main_and_the_first_step(call: Call, argv: tuple[str, ...]) -> None:
    watch = Watch()
    sys.setprofile(watch)
    try:
        ended = call("target=bernoulli4", "metric=tv", "task.steps=20", "task.chains=2", *argv)
    finally:
        sys.setprofile(None)
    assert ended.status == 0, ended.err
    functions = [each for each in watch.stack if "<lambda>" not in each]
    assert functions[3] == "runner/__main__.py main"  # the three before it report errors
    assert len(functions) <= MOST_FUNCTIONS, functions
    assert len({each.split()[0] for each in functions}) <= MOST_FILES, functions
    assert {each: watch.calls[each] for each in ONCE} == dict.fromkeys(ONCE, 1)


def test_a_sweep_builds_each_problem_once(call: Call) -> None:
    watch = Watch()
    sys.setprofile(watch)
    try:
        swept = ("target=bernoulli4", "sampler=gibbs,random_walk", "seed=[0,1],[2]", "metric=tv")
        ended = call("-m", *swept, "task.steps=20", "task.chains=2")
    finally:
        sys.setprofile(None)
    assert ended.out.endswith("\n6 runs done.\n"), ended.err
    assert watch.calls["runner/tasks/run_identity.py run_ids"] == 4
    assert watch.calls["runner/problem/build.py build"] == 2
    assert watch.calls["runner/problem/build.py build_target"] == 1
