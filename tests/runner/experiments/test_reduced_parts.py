"""A reduced protocol is one under whatever name a part of its table is recorded."""

from __future__ import annotations

import pytest

from runner.report.analysis.table_entries import summarise
from runner.report.experiment_shape import experiment_shape
from runner.report.page.layout import Page, lay_out
from runner.report.published import published_numbers
from runner.report.runs.gathered import gather
from tests.support.tables import NOTHING, jobs_at

SAID = "(reduced protocol)"


def page(*words: str) -> Page:
    shape = experiment_shape("pt_table3", words)
    results = gather("pt_table3", shape, jobs_at("pt_table3", *words), NOTHING)
    shape = shape.restricted(results.columns, results.rows)
    return lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "")


@pytest.mark.parametrize(
    ("words", "reduced"),
    [
        (["scale=quick"], True),
        (["scale=quick", "scale.name=quick-mnist", "target.dataset=mnist_static"], True),
        (["scale.name=mine"], True),
        (["scale=paper", "scale.name=quick"], False),
        (["scale=paper", "scale.name=paper-mnist"], False),
    ],
)
def test_the_scale_that_was_chosen_says_whether_the_protocol_is_reduced(
    words: list[str], reduced: bool
) -> None:
    shown = page(*words)
    assert (SAID in shown.title) is reduced
    assert any(sentence.startswith("§") for sentence in shown.legend) is reduced
