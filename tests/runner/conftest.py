"""What the runner's tests share: the command line inside this process, and results without their times."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from runner.__main__ import main
from runner.execution import signals


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _no_traces() -> Iterator[None]:
    """Every test starts with Hydra unset and leaves signals as they were."""
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    GlobalHydra.instance().clear()
    yield
    GlobalHydra.instance().clear()
    signals.forget()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line in this process, in an empty folder, results in ``out``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

    def called(*argv: str) -> Ended:
        capsys.readouterr()
        GlobalHydra.instance().clear()
        status = main(argv)
        out, err = capsys.readouterr()
        return Ended(status, out, err)

    return called
