"""What a run's identity does not tell: on how many CPU threads it was computed, and by which source code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from runner.execution.devices import device_type
from runner.integrity.source import made_elsewhere
from runner.library.selected_runs import load_runs
from runner.models.computed_settings import settings_computed
from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.legend import notes_on_runs
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
from runner.report.selection.grid import grid_of
from runner.report.selection.stored_runs import stored_runs
from runner.report.selection_table import show_runs
from runner.site.index.run_entry import run_entry_of
from tests.support.commands import finished as ended
from tests.support.commands import one
from tests.support.tables import finished, shape_from

BLOCK = """
title: A small table
caption: For the tests.
rows: [{row: A}]
columns: [{label: eight, where: {target: mog}}]
metrics: [{metric: tv, name: TV, direction: min}]
"""


def page_of(*manifests: dict[str, object] | None, sources: Sequence[Sequence[str]] = ()) -> str:
    """The page of runs with these manifests, which so many `sources` of theirs have computed."""
    runs = [
        finished("A", "eight", seed, {"scale": {"name": "quick"}}, {"tv": 0.1 + seed}, manifest=manifest)
        for seed, manifest in enumerate(manifests)
    ]
    for run, names in zip(runs, sources, strict=False):
        assert isinstance(run.summary, dict)
        run.summary["sources"] = [{"source": name, "commit": f"{name}0000000"} for name in names]
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    return markdown(
        lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "make it")
    )


def test_a_table_tells_that_runs_had_several_threads() -> None:
    assert "CPU threads" not in page_of({"threads": 1}, {"device": {}}, None)
    assert "Computed on 2 CPU threads. Sums" in page_of({"threads": 2}, {"threads": 2})
    again = {"threads": 1, "attempts": [{"threads": 4}, {"threads": 1}]}
    assert "Computed on 1 and 4 CPU threads. Sums" in page_of({"threads": 1}, again)


def test_a_table_tells_that_runs_are_of_several_versions() -> None:
    """Runs of versions before the sources were kept are none of them."""
    assert "source code" not in page_of(None, None, sources=[["a1"], ["a1"]])
    assert "source code" not in page_of(None, None, sources=[["a1"]])
    said = page_of(None, None, None, sources=[["a1"], ["b2"], ["b2"]])
    assert (
        "of 2 versions of the source code (b2 (commit b200000): 2 runs; a1 (commit a100000): 1 run)." in said
    )
    assert "c3 (commit c300000): 1 run; 1 more)" in page_of(
        *[None] * 3, sources=[["a1"], ["b2"], ["c3", "d4"]]
    )


def test_commits_that_share_their_code_are_one_version() -> None:
    one, again, other = "a1 (commit a100000)", "a1 (commit c300000)", "b2 (commit b200000)"
    assert notes_on_runs([1], {one: 90, again: 60}) == []
    (said,) = notes_on_runs([1], {one: 1, other: 2, again: 3})
    assert f"of 2 versions of the source code ({one}: 4 runs; {other}: 2 runs)." in said


def test_a_run_tells_that_other_source_code_tuned_its_sampler_or_trained_its_model() -> None:
    own, other = {"source": "a1", "commit": None}, {"source": "b2", "commit": None}
    assert made_elsewhere([own], {"sources": [own]}, {"sources": [own]}) == []
    assert made_elsewhere([own], None, None) == made_elsewhere([own], {"sources": None}, {}) == []
    tuned = "at least one run has hyperparameters that other source code found: b2"
    trained = "at least one run has a model that other source code trained: b2"
    assert made_elsewhere([own], {"sources": [own, other]}, None) == [tuned]
    assert made_elsewhere([own], {"sources": [other]}, {"sources": [other]}) == [tuned, trained]


def test_a_run_keeps_its_number_of_threads(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    small = ("task.steps=10", "task.chains=2", "task.burn_in=0", "metric=acceptance")
    try:
        root = ended(tmp_path, "target=bernoulli4", "sampler=gibbs", "threads=2", *small)
    finally:
        torch.set_num_threads(before)
    manifest = json.loads(one("runs/*/manifest.json", root).read_text())
    assert manifest["threads"] == 2
    assert [attempt["threads"] for attempt in manifest["attempts"]] == [2]


def test_what_is_no_part_of_a_run_makes_no_row(tmp_path: Path) -> None:
    """The same run is not computed again with other threads, nor with the device that `auto` found."""
    before = torch.get_num_threads()
    small = ("target=bernoulli4", "sampler=gibbs", "task.steps=10", "task.chains=2", "metric=acceptance")
    given = {0: "threads=1", 1: "threads=2", 2: "device=cpu", 3: "device=auto"}
    try:
        for seed, line in given.items():
            root = ended(tmp_path, *small, "task.burn_in=0", f"seed={seed}", line)
    finally:
        torch.set_num_threads(before)
    runs = stored_runs(root)
    grid = grid_of(runs, "runs")
    assert [row.row for row in grid.shape.rows] == ["gibbs"]
    assert [column.label for column in grid.shape.columns] == ["bernoulli4"]
    found = load_runs("device=cpu", output_root=root)
    assert sorted(found["seed"]) == [0, 1, 2, 3]
    assert set(found["threads"]) == {1, 2}
    entry = run_entry_of(runs[0].folder, "")
    assert entry.settings["device"] == "cpu"


def test_a_device_of_another_type_is_one_of_its_own() -> None:
    config, manifest = {"device": "auto"}, {"device": {"type": "cuda", "name": "A GPU"}}
    assert settings_computed(config, manifest)["device"] == "cuda"
    assert settings_computed({"device": "cpu"}, manifest)["device"] == "cpu"
    assert settings_computed(config, None)["device"] == device_type("auto")


def test_a_table_of_runs_says_on_the_terminal_what_its_files_say_of_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a version had the class of the task elsewhere, or a task of one's own is gone."""
    small = ("target=bernoulli4", "sampler=gibbs", "task.steps=10", "task.chains=2", "metric=acceptance")
    root = ended(tmp_path, "-m", *small, "task.burn_in=0", "seed=0,1")
    runs = []
    for run, name in zip(stored_runs(root), ("a1", "b2"), strict=True):
        assert run.summary is not None
        task = {**run.config["task"], "_target_": f"runner.tasks.{name}.Gone"}
        sources = [{"source": name, "commit": None}]
        config, summary = {**run.config, "task": task}, {**run.summary, "sources": sources}
        runs.append(replace(run, config=config, summary=summary))
    capsys.readouterr()
    show_runs(runs, "two versions")
    said = " ".join(capsys.readouterr().out.split())
    assert "of 2 versions of the source code (a1: 1 run; b2: 1 run)" in said
    assert "n = 2 seeds" in said
