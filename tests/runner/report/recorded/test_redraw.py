"""Figures of a record drawn anew: from its numbers alone, as the runs gave them; the rest stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.report.analysis.growth import growing
from runner.report.analysis.table_entries import summarise
from runner.report.draw_figures import write_figures
from runner.report.published import published_numbers
from runner.report.recorded import redraw as redraw_module
from runner.report.recorded.recorded_results import RecordedResults
from runner.report.recorded.redraw import redraw
from runner.report.recorded.said import Said
from runner.report.recorded.seed_values import read_labelled, read_seed_values, seed_values
from runner.report.runs.gathered import exact_values
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.folder_digests import DIGESTS, damaged_files, write_digests
from tests.support.tables import finished, shape_from

BLOCK = """
title: t
caption: c
rows: [{row: A}, {row: B, role: variant}, {row: exact, role: draws}]
columns: [{label: a, where: {target.width: 1}}, {label: b, where: {target.width: 2}}]
metrics: [{metric: kl, name: KL, direction: min}]
figures:
  - {name: figure, width: 4, height: 2, panels: [
      {kind: intervals, title: a, metric: kl, columns: [a]},
      {kind: against_columns, title: both, metric: kl, columns: [a, b], x: target.width}]}
  - {name: curves, width: 4, height: 2, panels: [{kind: against_steps, title: a, metric: kl, columns: [a]}]}
"""
NUMBERS = {"A": (0.5, 0.7, 0.4), "B": (0.2, 0.3, 0.2), "exact": (0.1, 0.1, 0.1)}


def results() -> Results:
    runs = [
        finished(
            row, column, seed, {"target": {"width": width}, "scale": {"name": "quick"}}, {"kl": width * value}
        )
        for row, values in NUMBERS.items()
        for column, width in (("a", 1), ("b", 2))
        for seed, value in enumerate(values)
    ]
    return Results(tuple(runs), random_runs=True)


def test_exact_values_keep_their_line_and_their_growth(tmp_path: Path) -> None:
    """Without runs nothing is found beside their values; the table has what was found."""
    shape = shape_from(
        BLOCK.replace("{row: exact, role: draws}", "{row: exact, exact: [kl]}")
        + "growths: [{metric: kl, x: target.width, symbol: w, rows: [exact]}]\n"
    )
    runs = [
        replace(run, summary={**(run.summary or {}), "metrics": {"kl": 0.5, "kl_exact": width / 10}})
        for run in results().runs
        if run.row != "exact"
        for width in [run.config.target.width]
    ]
    found = Results((*runs, *exact_values(shape.row("exact"), runs)), random_runs=True)
    shape = replace(shape, figures=shape.figures[:1])
    said, drawn = growing(shape, found), write_figures(shape, found, tmp_path)
    assert "grows as w^p with p = 1.00" in said[0]
    recorded = RecordedResults(
        gone(Results(tuple(runs))).runs,
        random_runs=True,
        frame=summarise(shape, found, published_numbers(shape)).frame(shape),
        said=Said("", 3, [], {}, ["exact | a | kl", "exact | b | kl"], {}),
    )
    assert growing(shape, recorded) == said
    figure = drawn[0].read_bytes()
    assert write_figures(shape, recorded, tmp_path)[0].read_bytes() == figure


@pytest.mark.parametrize("name", ["None", "NA", "null", "nan", "N/A"])
def test_a_row_may_be_called_as_no_value_is(tmp_path: Path, name: str) -> None:
    shape, found = shape_from(BLOCK), results()
    shape.rows[0].row = name
    found = Results(tuple(replace(run, row=name) if run.row == "A" else run for run in found.runs))
    frame = summarise(shape, found, published_numbers(shape)).frame(shape)
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "seeds.csv").write_text(seed_values(shape, found))
    read = read_labelled(tmp_path / "table.csv")
    assert list(read["row"]) == list(frame["row"])
    assert list(read["mean"]) == list(frame["mean"])
    assert read_seed_values(tmp_path / "seeds.csv")[name, "a", "kl"] == dict(enumerate(NUMBERS["A"]))
    assert read["p_value"].isna().sum() == frame["p_value"].isna().sum()


def gone(found: Results) -> Results:
    """The same runs where nothing of them is left but their configurations."""
    return Results(
        tuple(replace(run, status="missing", summary=None) for run in found.runs), random_runs=True
    )


def partly(found: Results) -> Results:
    """The same runs, of which one of A reached nothing and one of B failed."""
    runs = [
        replace(run, summary={**(run.summary or {}), "metrics": {"kl": None}}) if run.run_id == "A-b-1"
        else replace(run, summary=None, status="failed") if run.run_id == "B-a-0"
        else run
        for run in found.runs
    ]  # fmt: skip
    return Results(tuple(runs), random_runs=True)


@pytest.fixture(scope="module")
def shape() -> TableShape:
    return shape_from(BLOCK).restricted(["a", "b"])


@pytest.fixture
def found() -> Results:
    return results()


@pytest.fixture
def record(tmp_path: Path, shape: TableShape, found: Results) -> Path:
    summary = summarise(shape, found, published_numbers(shape))
    summary.frame(shape).to_csv(tmp_path / "table.csv", index=False)
    names = ["figure.png", "figure.pdf", "curves.png", "table.csv"]
    for name in names[:3]:
        (tmp_path / name).write_text("old")
    write_digests(tmp_path, names)
    return tmp_path


@pytest.mark.parametrize("found", [results(), partly(results())], ids=["all runs", "some runs"])
def test_what_is_drawn_from_the_numbers_is_what_was_drawn_from_the_runs(
    record: Path, shape: TableShape, found: Results, tmp_path_factory: pytest.TempPathFactory
) -> None:
    written = redraw(shape, gone(found), record)
    assert sorted(path.name for path in written) == ["figure.pdf", "figure.png"]
    fresh = tmp_path_factory.mktemp("fresh")
    write_figures(replace(shape, figures=shape.figures[:1]), found, fresh)
    assert (record / "figure.png").read_bytes() == (fresh / "figure.png").read_bytes()
    assert (record / "curves.png").read_text() == "old"
    assert damaged_files(record) == []


def test_a_figure_with_columns_that_are_not_in_the_table_stays_as_it_is(
    record: Path, shape: TableShape
) -> None:
    unlisted = replace(
        shape, columns=[replace(column, table=column.label != "b") for column in shape.columns]
    )
    assert redraw(unlisted, gone(results()), record) == []
    assert (record / "figure.png").read_text() == "old"
    assert damaged_files(record) == []


def test_drawing_that_is_cut_short_leaves_the_record_as_it_is(
    record: Path, shape: TableShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(_: TableShape, __: Results, folder: Path) -> list[Path]:
        (folder / "figure.png").write_text("torn")
        raise KeyboardInterrupt

    monkeypatch.setattr(redraw_module, "write_figures", torn)
    with pytest.raises(KeyboardInterrupt):
        redraw(shape, gone(results()), record)
    assert (record / "figure.png").read_text() == "old"
    assert damaged_files(record) == []


def test_a_damaged_record_is_left_as_it_is(record: Path, shape: TableShape) -> None:
    (record / "table.csv").write_text("row,cell\n")
    with pytest.raises(UserError, match=r"is not as it was written: table\.csv"):
        redraw(shape, gone(results()), record)
    assert (record / "figure.png").read_text() == "old"


def test_a_record_that_is_not_there_is_a_sentence(tmp_path: Path, shape: TableShape) -> None:
    with pytest.raises(UserError, match=r"There is no recorded table in"):
        redraw(shape, gone(results()), tmp_path / "none")


def test_a_record_of_a_version_without_digests_is_left_as_it_is(record: Path, shape: TableShape) -> None:
    """Its table is there, and `make verdicts` reads it."""
    (record / DIGESTS).unlink()
    said = r"has no digests\.json, as those of 0\.1\.0, .*: --record writes it anew where its runs are done\."
    with pytest.raises(UserError, match=said):
        redraw(shape, gone(results()), record)
    assert (record / "figure.png").read_text() == "old"
