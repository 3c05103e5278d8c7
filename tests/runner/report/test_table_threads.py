"""What a run's identity does not tell: on how many CPU threads it was computed."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
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


def page_of(*manifests: dict[str, object] | None) -> str:
    runs = [
        finished("A", "eight", seed, {"scale": {"name": "quick"}}, {"tv": 0.1 + seed}, manifest=manifest)
        for seed, manifest in enumerate(manifests)
    ]
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    return markdown(
        lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "make it")
    )


def test_a_table_tells_that_runs_had_several_threads() -> None:
    assert "CPU threads" not in page_of({"threads": 1}, {"device": {}}, None)
    assert "Computed on 2 CPU threads. Sums" in page_of({"threads": 2}, {"threads": 2})
    again = {"threads": 1, "attempts": [{"threads": 4}, {"threads": 1}]}
    assert "Computed on 1 and 4 CPU threads. Sums" in page_of({"threads": 1}, again)


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
