"""Below the table of an experiment stand the overrides under which its runs are not those it describes."""

from __future__ import annotations

import pytest

from runner.config.experiments.changing_overrides import changing_overrides
from runner.report.experiment_shape import experiment_shape

CASES = [
    ("edlp_figure5", ["target.n_hidden=7"], ["target.n_hidden=7"]),
    ("edlp_figure5", ["sampler=edula", "seed=[0,1]", "dtype=float64"], []),
    ("edlp_figure5", ["sampler.eta=1,2.0"], []),
    ("edlp_figure5", ["sampler.eta=1,3"], ["sampler.eta=1,3"]),
    ("edlp_table2", ["target.tabular=compas"], []),
    (
        "edlp_table2",
        ["target.tabular=breast_cancer", "metric=tv"],
        ["target.tabular=breast_cancer", "metric=tv"],
    ),
]


@pytest.mark.parametrize(("experiment", "given", "changing"), CASES)
def test_overrides_that_choose_among_the_runs_are_told_from_those_that_set(
    experiment: str, given: list[str], changing: list[str]
) -> None:
    assert changing_overrides(experiment, ["scale=quick", *given]) == changing


def test_the_table_says_that_its_caption_is_of_other_runs() -> None:
    notes = experiment_shape("edlp_figure15", ["scale=smoke", "task.chains=5"]).notes
    said = "Overrides: task.chains=5; captions and notes describe the experiment without them."
    assert notes == [*experiment_shape("edlp_figure15").notes, said]
