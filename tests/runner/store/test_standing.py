"""The status of a run whose process goes on while somebody looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.store import run_folder
from runner.store.run_folder import RunFolder
from tests.support.commands import finished

SMALL = ("target=bernoulli4", "sampler=dmala", "metric=tv", "task.steps=20", "task.chains=3", "seed=0")


def test_a_run_that_ends_between_two_looks_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There was no summary yet, and then no lock any more."""
    root = finished(tmp_path / "outputs", *SMALL)
    (summary,) = root.glob("runs/*/summary.json")
    hidden = summary.rename(summary.with_name("not-yet"))

    def ended(_: Path) -> bool:
        hidden.rename(summary)
        return False

    folder = RunFolder(summary.parent)
    assert folder.status() == "interrupted"
    monkeypatch.setattr(run_folder, "is_held", ended)
    status, found = folder.standing()
    assert (status, found is not None) == ("done", True)
