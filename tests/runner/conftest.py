"""What the runner's tests share: the command line inside this process, and an experiment of their own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hydra.core.global_hydra import GlobalHydra

from runner.__main__ import main
from runner.execution import progress, signals
from tests.support.commands import Call, Ended

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPERIMENT = """# @package _global_
experiment: tiny
sweep:
  grid: {target: [bernoulli4, mog]}
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: "DMALA, fixed", sampler: dmala, sampler.step_size: [1, 2.5]}
    - {row: PT, sampler: pt_gibbs, sampler.ladder: "[1,0.5,0]"}
  overrides: {task.start: random, metric: "[tv,jump]", task.steps: 30, task.chains: 3}
"""


@pytest.fixture(autouse=True, scope="module")
def _own_hydra() -> Iterator[None]:
    """The tests of a module share Hydra and what it has composed, and leave nothing of it behind."""
    GlobalHydra.instance().clear()
    yield
    GlobalHydra.instance().clear()


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    yield
    signals.forget()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def ax() -> Iterator[Axes]:
    """A panel of a page of its own."""
    # Most tests of the runner draw nothing.
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line in this process, in an empty folder, results in ``outputs``.

    It says nothing of its progress, which it does where a run takes longer than usual.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 1e9)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

    def called(*argv: str) -> Ended:
        capsys.readouterr()
        status = main(argv)
        out, err = capsys.readouterr()
        return Ended(status, out, err)

    return called


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """The override that makes the experiment `tiny` known: 8 jobs."""
    path = tmp_path / "conf" / "experiment" / "tiny.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(EXPERIMENT)
    return f"hydra.searchpath=[file://{tmp_path}/conf]"
