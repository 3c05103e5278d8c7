"""What a table says beside its numbers: the floor, comparisons, notes of data sets, the budget."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from metrics.inference.few_seeds import detectable_difference, paired_p_value
from runner.execution.errors import UserError
from runner.problem.cached_reference_sample import SETS_DIFFER
from runner.report.analysis.compared_rows import compared_rows
from runner.report.analysis.comparison import compared
from runner.report.analysis.table_entries import summarise, within_floor
from runner.report.budget import budget, budget_sentence
from runner.report.draw_figures import draw_figure
from runner.report.figures.style import FLOOR
from runner.report.page.latex import latex
from runner.report.page.layout import Page, lay_out
from runner.report.page.legend import LETTERS, REDUCED, Footnotes, mark
from runner.report.page.markdown import SUPERSCRIPT, markdown
from runner.report.page.terminal import show_page
from runner.report.published import PublishedNumbers
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import VOID, Results
from runner.report.table_shape import TableShape
from tests.support.tables import finished, shape_from

BLOCK = """
title: Floors
caption: For the tests.
rows:
  - {row: far}
  - {row: near}
  - {row: below}
  - {row: truth, role: draws}
columns:
  - {label: digits, where: {target.dataset: digits}}
  - {label: letters, where: {target.dataset: letters}, note: Half the alphabet.}
  - {label: absent, where: {target.dataset: absent}}
comparisons:
  - {metric: log_mmd, rows: [far, near]}
metrics:
  - {metric: log_mmd, name: log-MMD, direction: min, floor: truth}
  - {metric: swaps, name: Swaps, direction: none, rows: [near]}
figures:
  - name: curve
    across: 3
    width: 9.0
    floor_label: two sets
    panels:
      - kind: against_steps
        title: steps
        metric: log_mmd
        columns: [digits]
        y_label: gap
        floor: log_mmd_floor
      - {kind: against_steps, title: time, metric: log_mmd, columns: [digits], x: seconds, log_x: false}
      - {kind: intervals, title: other, metric: log_mmd, columns: [absent], log_x: false}
"""

VALUES: dict[str, list[float]] = {
    "far": [-4.0, -4.2, -4.1, -3.9],
    "near": [-6.1, -6.5, -6.2, -6.4],
    "below": [-6.9, -6.7, -6.8, -6.6],
    "truth": [-6.2, -6.4, -6.3, -6.3],
}
NOTE = "classes a to m only, re-split"
FLOOR_LINE = (FLOOR.line, FLOOR.colour)


def run(row: str, column: str, seed: int, value: float, **more: Any) -> Run:
    """A run with a curve, in which seed 1 is twice as slow."""
    points = [(step, step, 0.1 * step * (1 + seed), "log_mmd", -step / 10) for step in (1, 10, 50)]
    curve = pd.DataFrame(points, columns=["step", "evaluations", "seconds", "metric", "value"])
    config = {"target": {"dataset": column}, "scale": {"name": "quick"}}
    metrics = {"log_mmd": value, "log_mmd_floor": -6.0 - 0.1 * seed, "swaps": 0.5}
    return finished(row, column, seed, config, metrics, curve=curve, **more)


@pytest.fixture
def results() -> Results:
    """Letters have a note, said by the runs of one row only, as old summaries have none."""
    digits = [run(row, "digits", seed, v) for row, series in VALUES.items() for seed, v in enumerate(series)]
    letters = [run("far", "letters", seed, v, notes=[NOTE]) for seed, v in enumerate(VALUES["far"])]
    return Results((*digits, *letters, run("near", "letters", 0, -6.0)))


@pytest.fixture
def shape(results: Results) -> TableShape:
    return shape_from(BLOCK).restricted(results.columns)


@pytest.fixture
def page(shape: TableShape, results: Results) -> Page:
    return page_of(shape, results)


def page_of(shape: TableShape, results: Results) -> Page:
    return lay_out(shape, summarise(shape, results, PublishedNumbers({})), results, "", "again")


def test_the_rule_of_the_floor() -> None:
    """Worse only by a one-sided test: twice that p is the two-sided one."""
    floor = dict(enumerate([0.0, 0.1, -0.1, 0.05]))

    def shifted(*by: float) -> dict[int, float]:
        return {seed: floor[seed] + shift for seed, shift in enumerate(by)}

    above, edge = shifted(0.3, 0.5, 0.4, 0.6), shifted(0.1, 0.7, 0.2, 0.35)
    assert not within_floor(above, floor, 1.0)
    assert within_floor(shifted(2, -1.8, 0.1, 0.2), floor, 1.0)
    assert within_floor(floor, above, 1.0)
    assert within_floor(above, floor, -1.0)
    two_sided = paired_p_value(edge, floor)
    assert two_sided is not None
    assert 0.05 < two_sided < 0.1
    assert not within_floor(edge, floor, 1.0)


def test_without_a_test_nothing_is_marked_as_at_the_floor() -> None:
    """One seed, no shared seed, or differences that do not vary; better and worse than the floor."""
    for by in (-0.5, 0.5):
        assert not within_floor({0: by}, {0: 0.0}, 1.0)
        assert not within_floor({0: 1.0 + by, 1: 2.0 + by}, {0: 1.0, 1: 2.0}, 1.0)
        assert not within_floor({1: by}, {0: 0.0}, 1.0)
    assert within_floor({0: 1.0, 1: 1.25}, {0: 2.0, 1: 2.0}, 1.0)


# A is better for each seed that both have; over all seeds its mean is the worse one.
CONTRARY: dict[str, dict[int, float]] = {
    "A": {seed: 1.0 + 0.01 * seed if seed < 5 else 3.0 for seed in range(20)},
    "B": {seed: 2.0 + 0.012 * seed for seed in range(5)},
}


def test_shared_seeds_that_contradict_the_means_of_all_put_nothing_at_the_floor() -> None:
    a, b = CONTRARY["A"], CONTRARY["B"]
    assert within_floor({seed: a[seed] for seed in b}, b, 1.0)
    assert not within_floor(a, b, 1.0)


def test_two_rows_are_not_called_different_against_the_means_of_all_seeds() -> None:
    shape = shape_from(BLOCK.replace("rows: [far, near]", "rows: [far, truth]"))
    names = {"far": CONTRARY["A"], "truth": CONTRARY["B"]}
    results = Results(
        tuple(run(row, "digits", seed, value) for row, own in names.items() for seed, value in own.items())
    )
    (said,) = compared(compared_rows(shape.restricted(results.columns), results))
    assert said == (
        "log-MMD, digits: far against truth, 1.02 against 2.02, difference -1.0040 ± 0.0039 (95 % interval; "
        "paired t-test over seeds): not called different, as these are the means over the 5 shared seeds, "
        "and those over all seeds are in the other order, 2.5 (n = 20) against 2.02 (n = 5)."
    )


def test_what_is_at_the_floor_is_marked_and_said(shape: TableShape, results: Results, page: Page) -> None:
    summary = summarise(shape, results, PublishedNumbers({}))
    marked = {row for row in VALUES if summary.at("log_mmd", row, "digits").within_floor}
    assert marked == {"near", "below"}
    assert not summary.at("log_mmd", "far", "letters").within_floor
    text = markdown(page)
    assert "| near | -6.30 ± 0.29~° |" in text
    assert "| far | -4.05 ± 0.21 |" in text
    assert "°: not significantly worse than the floor, the row truth (one-sided paired t-test" in text
    assert r"\circ" in latex(page)
    assert "°: not significantly worse than the floor" in printed(page)
    assert "°" not in markdown(page_of(shape_from(BLOCK.replace(", floor: truth", "")), results))


def test_a_reduced_protocol_is_said_in_the_title_and_at_every_number(results: Results) -> None:
    page = page_of(shape_from(BLOCK + "reduced: {quick: a small network., smoke: a tiny one}\n"), results)
    assert page.title == "Floors (reduced protocol)"
    cells = [cell for block in page.blocks for line in block.lines for cell in line.cells if cell is not None]
    assert cells
    assert all(REDUCED in cell.marks for cell in cells)
    for text in (markdown(page), latex(page), printed(page)):
        assert "a small network." in text
        assert "a tiny one" not in text
    assert r"$^{\S}$" in latex(page)
    other = page_of(shape_from(BLOCK + "reduced: {smoke: a tiny one}\n"), results)
    assert other.title == "Floors"
    assert REDUCED not in markdown(other)


def printed(page: Page) -> str:
    out = io.StringIO()
    show_page(page, out)
    return out.getvalue()


def test_two_rows_are_compared_in_every_column(shape: TableShape, results: Results, page: Page) -> None:
    first, second = compared(compared_rows(shape, results))
    p_value = paired_p_value(dict(enumerate(VALUES["far"])), dict(enumerate(VALUES["near"])))
    assert p_value is not None
    assert first == (
        "log-MMD, digits: far against near, -4.05 against -6.3, difference 2.25 ± 0.30 (95 % interval; "
        f"paired t-test over seeds): significantly different (p = {p_value:.2g}, n = 4); "
        "far is higher, which is worse."
    )
    assert second.endswith("(1 shared seed, too few or too much alike for a test).")
    for text in (markdown(page), latex(page), printed(page)):
        assert "far is higher, which is worse." in text


def test_rows_that_do_not_differ_are_said_so_with_what_could_be_detected(results: Results) -> None:
    shape = shape_from(BLOCK.replace("rows: [far, near]", "rows: [near, truth]")).restricted(results.columns)
    first, second = compared(compared_rows(shape, results))
    values = [dict(enumerate(VALUES[row])) for row in ("near", "truth")]
    found, p_value = detectable_difference(*values), paired_p_value(*values)
    detectable = f"smallest difference detectable at 80 % power: {found:.2g})."
    assert f": no significant difference (p = {p_value:.2g}, n = 4, " in first
    assert first.endswith(detectable)
    assert second == "log-MMD, letters: near against truth: no seed with a value of both."


def test_comparisons_are_corrected_over_those_with_a_test(results: Results) -> None:
    """Of three pairs in two columns two have a test: in the other column they share one seed at most."""
    pairs = "rows: [far, near]}\n  - {metric: log_mmd, rows: [near, truth]"
    shape = shape_from(BLOCK.replace("rows: [far, near]", pairs)).restricted(results.columns)
    tested = [
        sentence for sentence in compared(compared_rows(shape, results)) if "(Holm-adjusted p = " in sentence
    ]
    values = [dict(enumerate(VALUES[row])) for row in ("near", "truth")]
    found = detectable_difference(*values, tests=2)
    assert len(tested) == 2
    assert tested[1].endswith(f"at 80 % power, level 0.05 / 2: {found:.2g}).")


def test_notes_of_data_stand_on_their_column(page: Page) -> None:
    said = {text: letter for letter, text in page.footnotes}
    assert set(said) == {"Half the alphabet.", "Classes a to m only, re-split."}
    letters = "".join(said[note] for note in ("Half the alphabet.", "Classes a to m only, re-split."))
    for block in page.blocks:
        marks = {group.label.text: "".join(group.label.marks) for group in block.groups}
        assert marks == {"digits": "", "letters": letters}
    assert f"letters{letters.translate(SUPERSCRIPT)} |" in markdown(page)
    assert rf"letters$^{{\mathrm{{{letters[0]}}}\mathrm{{{letters[1]}}}}}$" in latex(page)
    assert "Classes a to m only, re-split." in printed(page)


def test_a_metric_of_some_rows_has_no_other_lines(page: Page) -> None:
    every, swaps = page.blocks
    assert [line.label.text for line in every.lines] == list(VALUES)
    assert [line.label.text for line in swaps.lines] == ["near"]


def test_footnotes_never_run_out_of_letters() -> None:
    footnotes = Footnotes()
    marks = ["".join(footnotes.marks(f"note {place}")) for place in range(60)]
    assert len(set(marks)) == 60
    assert marks[: len(LETTERS)] == list(LETTERS)
    assert marks[len(LETTERS)] == mark(len(LETTERS)) == "aa"
    assert all(letter.translate(SUPERSCRIPT) != letter for letter in LETTERS)


def test_a_note_of_several_lines_stands_in_one() -> None:
    """A second line would end the list of footnotes in Markdown."""
    footnotes = Footnotes()
    assert footnotes.marks("One\n\n  two.\n") == footnotes.marks("One two.")
    assert footnotes.texts == ["One two."]


def test_a_column_without_jobs_is_gone(shape: TableShape, page: Page, results: Results) -> None:
    assert [column.label for column in shape.columns] == ["digits", "letters"]
    assert "absent" not in markdown(page)
    (figure,) = shape.figures
    assert [panel.title for panel in figure.panels] == ["steps", "time"]
    assert (figure.across, figure.width) == (2, 6.0)


def test_a_panel_has_its_floor_and_its_own_axis(shape: TableShape, results: Results) -> None:
    drawn: Figure = draw_figure(shape.figures[0], shape, results)
    steps, time = drawn.axes
    (floor,) = (line for line in steps.lines if (line.get_linestyle(), line.get_color()) == FLOOR_LINE)
    assert list(floor.get_ydata()) == pytest.approx([-6.15, -6.15])
    assert (steps.get_xscale(), time.get_xscale()) == ("log", "linear")
    assert (steps.get_ylabel(), time.get_ylabel()) == ("gap (ln squared\ndistance)\n← better", "")
    seconds = time.lines[0].get_xdata()
    assert list(seconds) == pytest.approx([0.1 * step * 2.5 for step in (1, 10, 50)])
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [*VALUES, "two sets"]


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            ("floor: truth", "floor: lies"),
            r"table\.metrics\[0\]\.floor names 'lies', which is not among table\.rows",
        ),
        (
            ("rows: [far, near]", "rows: [far, fare]"),
            r"comparisons\[0\]\.rows\[1\] names 'fare'.* did you mean 'far'",
        ),
        (
            ("rows: [far, near]", "rows: [far]"),
            r"table\.comparisons\[0\]\.rows must be two rows, 'far' was given",
        ),
        (
            ("{metric: log_mmd, rows: [far", "{metric: mmd, rows: [far"),
            r"comparisons\[0\]\.metric names 'mmd'",
        ),
        (("rows: [near]", "rows: [nearer]"), r"\.rows\[0\] names 'nearer'.* did you mean 'near'"),
    ],
)
def test_a_mistake_is_refused_by_name(edit: tuple[str, str], sentence: str) -> None:
    assert edit[0] in BLOCK
    with pytest.raises(UserError, match=sentence):
        shape_from(BLOCK.replace(*edit))


LEARN = {
    "_target_": "runner.tasks.learn_task.Learn",
    "method": "pcd", "cd_steps": 10, "iterations": 500, "batch": 100, "chains": 100,
    "ais": {"temperatures": 2000, "chains": 100, "schedule": "linear"},
}  # fmt: skip
SAMPLE = {
    "_target_": "runner.tasks.sample_task.Sample",
    "steps": 2000, "chains": 100, "burn_in": 0, "start": "random",
}  # fmt: skip
MODEL = {
    "_target_": "targets.models.rbm.RBM",
    "n_hidden": 500,
    "training": {"method": "cd", "cd_steps": 10, "iterations": 1000, "batch": 100},
    "ground_truth": {"steps": 2000, "chains": 500},
}


def with_task(task: Mapping[str, Any], target: Mapping[str, Any] = MODEL) -> Results:
    config = OmegaConf.create({"task": task, "target": target, "scale": {"name": "quick"}})
    return Results((Run("a", "b", 0, "c", "missing", config, None, cast(Any, None)),))


def test_the_budget_of_a_task_is_said() -> None:
    assert budget_sentence(with_task(LEARN)) == (
        "Budget (quick): PCD with 100 chains, 500 iterations of 10 steps in batches of 100; AIS with 2,000 "
        "temperatures and 100 chains."
    )
    assert budget_sentence(with_task(SAMPLE)) == (
        "Budget (quick): 100 chains, 2,000 steps of which 0 are burn-in, start: random. Models: 500 hidden "
        "units, 1,000 iterations of CD-10 in batches of 100; reference sample: 2,000 block-Gibbs steps of "
        "500 chains."
    )
    learned = budget(with_task(LEARN).runs[0].config)
    assert learned == {key: value for key, value in LEARN.items() if key != "_target_"}


def test_the_budget_of_contrastive_divergence_has_a_chain_for_each_image_of_a_batch() -> None:
    said = budget_sentence(with_task({**LEARN, "method": "cd", "batch": 50}))
    assert said.startswith("Budget (quick): CD with 50 chains, 500 iterations of 10 steps in batches of 50;")


def test_the_budget_of_a_deep_model_names_its_buffer_its_repeats_its_device_and_its_time() -> None:
    task = {**LEARN, "buffer": 1000, "ais": {**cast(Any, LEARN["ais"]), "repeats": 3}}
    planned = with_task(task, {"_target_": "targets.models.resnet_ebm.ResNetEBM"})
    budgeted = (
        "Budget (quick): PCD with 100 chains, 500 iterations of 10 steps in batches of 100, chains taken "
        "from a buffer of 1,000 states; AIS with 2,000 temperatures and 100 chains, 3 times."
    )
    assert budget_sentence(planned) == budgeted
    folder = SimpleNamespace(manifest=lambda: {"device": {"name": "a processor"}})
    summary = {"seconds": 100.0, "metrics": {"ais_seconds": 20.0}}
    done = [
        replace(planned.runs[0], run_id=name, status="done", summary=summary, folder=cast(Any, folder))
        for name in ("one", "two", "two")
    ]
    assert budget_sentence(Results(tuple(done))) == budgeted + (
        " Measured on a processor: 3 min 20 s of training and 40 s of annealing, all runs together."
    )


def test_summaries_of_before_have_no_notes_and_no_tuning() -> None:
    old = run("far", "digits", 0, 1.0)
    assert Results((old,)).notes("digits") == []
    assert old.value("tuning_evaluations") == 0.0


def test_a_column_whose_floor_is_void_is_not_ranked(shape: TableShape, results: Results) -> None:
    assert SETS_DIFFER.endswith(VOID)
    summary = summarise(shape, results, PublishedNumbers({}))
    assert any(summary.at("log_mmd", row, "digits").best for row in VALUES)
    noted = [
        replace(run, summary={**run.summary, "notes": [SETS_DIFFER]}) if run.column == "digits" else run
        for run in results.runs
        if run.summary is not None
    ]
    void = summarise(shape, Results(tuple(noted)), PublishedNumbers({}))
    for row in VALUES:
        entry = void.at("log_mmd", row, "digits")
        assert (entry.best, entry.p_value, entry.within_floor) == (False, None, False)
