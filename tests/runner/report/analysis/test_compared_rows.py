"""The file of a table's comparisons: SciPy's paired t-tests, corrected by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.table_files import COMPARISONS, write_table
from runner.report.published import PublishedNumbers
from runner.report.runs.stored_results import Results
from tests.support.tables import finished, shape_from

ROWS = """
title: Compared
caption: For the tests.
rows: [{row: A}, {row: B}, {row: C}, {row: D}]
columns: [{label: one, where: {}}]
metrics: [{metric: kl, name: KL, direction: min, scale: 0.1}]
"""
PAIRS = "comparisons: [{metric: kl, rows: [A, B]}, {metric: kl, rows: [A, C]}, {metric: kl, rows: [B, D]}]\n"
VALUES = {
    "A": [1.0, 1.3, 0.9, 1.2, 1.1],
    "B": [1.4, 1.6, 1.5, 1.4, 1.7],
    "C": [1.1, 1.2, 1.1, 1.3, 1.0],
    "D": [1.0, 2.0, float("nan"), 1.0, 1.0],
}


def files(folder: Path, block: str) -> list[str]:
    """Writes the table of `VALUES`; the names of its files."""
    runs = [
        finished(row, "one", seed, {"scale": {"name": "quick"}}, {"kl": value})
        for row, own in VALUES.items()
        for seed, value in enumerate(own)
    ]
    shape, results = shape_from(block), Results(tuple(runs), random_runs=True)
    summary = summarise(shape, results, PublishedNumbers({}))
    return write_table(folder, summary.records(shape), lay_out(shape, summary, results, "", ""))


def test_a_table_has_its_comparisons_in_a_file(tmp_path: Path) -> None:
    assert COMPARISONS in files(tmp_path, ROWS + PAIRS)
    lines = pd.read_csv(tmp_path / COMPARISONS).set_index(["row", "against"])
    tests = {(one, other): stats.ttest_rel(VALUES[one], VALUES[other]) for one, other in ("AB", "AC")}
    # Of three pairs two have a test: the smaller p-value counts twice.
    assert tests["A", "B"].pvalue < tests["A", "C"].pvalue
    for pair, factor in ((("A", "B"), 2), (("A", "C"), 1)):
        test, line = tests[pair], lines.loc[pair]
        apart = np.subtract(*(VALUES[row] for row in pair))
        lo, hi = test.confidence_interval(0.95)
        assert line[["difference", "lo", "hi"]].tolist() == pytest.approx([apart.mean(), lo, hi])
        assert line[["p_value", "holm_p_value"]].tolist() == pytest.approx(
            [test.pvalue, factor * test.pvalue]
        )
        assert line[["n", "tests"]].tolist() == [5, 2]
        shift = line["detectable"] / (apart.std(ddof=1) / np.sqrt(5))
        critical = stats.t.isf(0.05 / 2 / 2, 4)
        assert stats.nct.sf(critical, 4, shift) + stats.nct.cdf(-critical, 4, shift) == pytest.approx(0.8)


def test_rows_without_some_values_have_no_test_there(tmp_path: Path) -> None:
    files(tmp_path, ROWS + PAIRS)
    line = pd.read_csv(tmp_path / COMPARISONS).set_index(["row", "against"]).loc["B", "D"]
    assert line["without_value"] == "1 of 5 runs of D have no finite value"
    assert line["n"] == 4
    assert line[["difference", "lo", "hi", "p_value", "holm_p_value", "detectable"]].isna().all()


def test_a_table_that_compares_nothing_has_no_such_file(tmp_path: Path) -> None:
    assert COMPARISONS not in files(tmp_path, ROWS)
    assert not (tmp_path / COMPARISONS).exists()


def test_the_legend_says_that_marks_and_sentences_are_corrected_over_other_tests(tmp_path: Path) -> None:
    said = "corrected over the table's own comparisons alone"
    for block, expected in ((ROWS + PAIRS, True), (ROWS, False)):
        files(tmp_path, block)
        text = (tmp_path / "table.md").read_text()
        assert "~: no significant difference from the best" in text
        assert (said in text) is expected
