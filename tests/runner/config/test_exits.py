"""Code of the user's own that calls ``sys.exit``: a refusal or a failed run, and never its exit status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runner.execution.command_line import reported
from tests.support.commands import Call

AT_IMPORT = "import sys\nsys.exit(3)\n"

IN_CALLS = """
import sys
from samplers import Gibbs
from targets.synthetic.bernoulli4 import Bernoulli4


class Built(Bernoulli4):
    def __init__(self):
        sys.exit("no licence")


class First(Bernoulli4):
    def log_prob(self, theta):
        sys.exit(3)


class Starts(Bernoulli4):
    def initial(self, shape, generator):
        sys.exit(0)


class Step(Gibbs):
    def step(self, *arguments):
        sys.exit(0)


class Later(Bernoulli4):
    calls = 0

    def log_prob(self, theta):
        Later.calls += 1
        if Later.calls > 40:
            sys.exit(3)
        return super().log_prob(theta)
"""


@pytest.fixture(autouse=True)
def _own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name, text in {"exits_at_import": AT_IMPORT, "exits_in_calls": IN_CALLS}.items():
        (home / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(home))


AT_LINE_2 = "cannot be imported: its code calls sys.exit(3) (exits_at_import.py, line 2)."

REFUSED = [
    (
        "target._target_=exits_at_import.T sampler=gibbs",
        f"target._target_=exits_at_import.T {AT_LINE_2}",
    ),
    (
        "target=bernoulli4 sampler._target_=exits_at_import.S",
        f"sampler._target_=exits_at_import.S {AT_LINE_2}",
    ),
    (
        "target=bernoulli4 sampler=gibbs +metric.m._target_=exits_at_import.M",
        f"metric.m._target_=exits_at_import.M {AT_LINE_2}",
    ),
    (
        "target._target_=exits_in_calls.Built sampler=gibbs",
        "target: exits_in_calls.Built cannot be built: its code calls sys.exit('no licence') "
        "(exits_in_calls.py, line 9).",
    ),
    (
        "target._target_=exits_in_calls.First sampler=gibbs",
        "The target exits_in_calls.First cannot be evaluated: its code calls sys.exit(3) "
        "(exits_in_calls.py, line 14).",
    ),
    (
        "target._target_=exits_in_calls.Starts sampler=gibbs",
        "The target exits_in_calls.Starts cannot be evaluated: its code calls sys.exit(0) "
        "(exits_in_calls.py, line 19).",
    ),
    (
        "target=bernoulli4 sampler._target_=exits_in_calls.Step",
        "sampler: Step.step fails: its code calls sys.exit(0) (exits_in_calls.py, line 24).",
    ),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[words for words, _ in REFUSED])
def test_it_is_refused_in_one_sentence(words: str, said: str, call: Call) -> None:
    ended = call(*words.split(), "metric=tv", "task.steps=5", "task.chains=2")
    assert (ended.status, ended.err) == (2, f"error: {said}\n")
    assert not list(Path().glob("outputs/runs/*"))


def test_a_run_that_it_ends_has_failed(call: Call) -> None:
    words = ("target._target_=exits_in_calls.Later", "sampler=gibbs", "metric=jump", "task.steps=200")
    ended = call(*words, "task.chains=2")
    assert ended.status == 1
    assert "SystemExit: 3" in ended.out + ended.err
    assert list(Path().glob("outputs/runs/*/failure.json"))


@pytest.mark.parametrize("code", [0, None])
def test_help_still_ends_a_command(code: int | None) -> None:
    with pytest.raises(SystemExit):
        reported(lambda: sys.exit(code))
