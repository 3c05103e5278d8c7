"""Damaged runs are left out of a copy: they are counted so, and not among those that are not done."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import wandb_sync
from runner.__main__ import main as run
from runner.store.run_store import Store

SWEEP = ["sampler=dmala", "target.components=2", "task.chains=4", "task.steps=20", "task.record=2"]
"""Two runs of PT-DLP Table 5 at `smoke`."""


@pytest.mark.parametrize("file", ["metrics.csv", "summary.json", "config.yaml"])
def test_a_damaged_run_is_counted_alike_with_its_experiment_and_by_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str
) -> None:
    """With the experiment it was also not done, and by conditions where its settings could be read."""
    sweep, root = [*SWEEP, "scale=smoke"], f"output_root={tmp_path}"
    assert run(["-m", "+experiment=pt_table5", *sweep, root]) == 0
    damaged = Store(tmp_path).run(min(path.name for path in tmp_path.glob("runs/*"))).path / file
    damaged.write_text(":")
    for words, copied in (["runs", "experiment=pt_table5"], "1 run "), (["pt_table5", *sweep], "0 runs "):
        capsys.readouterr()
        assert wandb_sync.main([*words, "mode=offline", root]) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"Copied {copied}(offline)")
        assert "; 0 runs are not done.\n" in said
        assert f"1 run is damaged and left out, {damaged.parent} ({file})" in said


def test_a_run_whose_files_say_something_else_is_left_out_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["-m", "+experiment=pt_table5", *SWEEP, "scale=smoke", f"output_root={tmp_path}"]) == 0
    monkeypatch.setattr("runner.store.logged_run._points", lambda folder: {}[folder.run_id])
    capsys.readouterr()
    assert wandb_sync.main(["runs", "mode=offline", f"output_root={tmp_path}"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Copied 0 runs (offline); 0 runs are not done.\n")
    assert err.count("is not logged, since its files cannot be read") == 2
