"""The copy made by a run and the copy made from disk are the same; nothing else imports wandb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wandb", reason="the extra wandb is not installed")

from runner import wandb_sync
from runner.__main__ import main as run
from runner.store.run_store import Store
from tests.runner.sweep.test_wandb_logger import copies, own_wandb, read_back

SWEEP = ["scale=smoke", "sampler=gibbs,dmala", "target.components=2", "task.chains=4", "task.steps=20"]
SMALL = [*SWEEP, "task.record=2"]

pytestmark = pytest.mark.usefixtures("own_wandb")
__all__ = ["own_wandb"]


def content(path: Path) -> dict[str, Any]:
    """What a copy of a run holds, without what W&B adds on its own."""
    found = read_back(path)
    rows = {
        step: {key: value for key, value in row.items() if not key.startswith("_")}
        for step, row in found["history"].items()
    }
    return {"history": rows, "group": found["run"].run_group, "name": found["run"].display_name}


def test_the_copy_made_from_disk_is_the_copy_made_by_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    live = ["logger=wandb", "logger.mode=offline", f"output_root={tmp_path}"]
    assert run(["-m", "+experiment=pt_table5", *SMALL, *live]) == 0
    first = {path.name: content(path) for path in copies(tmp_path)}
    assert len(first) == 2
    for copy in first.values():
        assert copy["group"] == "pt_table5"
        assert max(copy["history"]) == 20
        assert len(copy["history"]) >= 2
        assert {"kl", "tv", "evaluations"} <= set(copy["history"][20])

    capsys.readouterr()
    rebuild = ["pt_table5", "mode=offline", *SMALL, f"output_root={tmp_path}"]
    for _ in range(2):
        assert wandb_sync.main(rebuild) == 0
        assert "Copied 2 runs (offline); 0 runs are not done." in capsys.readouterr().out
        assert {path.name: content(path) for path in copies(tmp_path)} == first
        assert len(copies(tmp_path)) == 2


def test_runs_that_are_not_done_are_counted_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wandb_sync.main(["pt_table5", "mode=offline", *SMALL, f"output_root={tmp_path}"]) == 0
    assert "Copied 0 runs (offline); 2 runs are not done." in capsys.readouterr().out
    assert copies(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pt_tabel5"], "did you mean 'pt_table5'"),
        (["pt_table5", "mode=on"], "logger.mode must be one of online, offline, disabled, 'on' was given"),
        (["pt_table5", "scale=big"], "Unknown scale 'big'"),
    ],
)
def test_mistakes_are_refused_in_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wandb_sync.main(arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


def test_a_logger_that_breaks_does_not_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("wandb.init", broken)
    live = ["logger=wandb", "logger.mode=offline", "logger.project=broken", f"output_root={tmp_path}"]
    assert run(["target=bernoulli4", "sampler=gibbs", "scale=smoke", "task.steps=10", *live]) == 0
    assert "No space left on device" in capsys.readouterr().err
    (folder,) = (tmp_path / "runs").iterdir()
    assert Store(tmp_path).run(folder.name).status() == "done"
