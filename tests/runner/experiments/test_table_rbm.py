"""The experiments of Table 2 and of Figures 3 and 4: data sets, models, shared runs and published numbers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from runner.report.published import published_numbers
from tests.support.tables import ids, jobs_at, placed, printed, shape_of

EXPERIMENTS = ("pt_table2_sampling", "pt_table2_learning", "pt_figure3", "pt_figure4")
REAL = ["MNIST", "EMNIST", "KMNIST", "Omniglot", "Caltech"]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_data_sets_of_a_scale(experiment: str) -> None:
    """At smoke small digits and a small model, without a download; else all sets, seen at one sampler."""
    small, large = placed(experiment, "scale=smoke"), placed(experiment, "scale=quick", "sampler=dula")
    for results, sets in ((small, ["digits"]), (large, REAL)):
        assert results.columns == sets
        left = shape_of(experiment).restricted(sets)
        assert [column.label for column in left.columns] == sets
        assert left.figures
        assert all(set(panel.columns) <= set(sets) for figure in left.figures for panel in figure.panels)
    assert {run.row for run in small.runs} == {row.row for row in shape_of(experiment).rows}
    for run in small.runs:
        assert (run.config.target.dataset, run.config.target.n_hidden) == ("digits", 32)
    for job in jobs_at(experiment, "scale=quick", "sampler=dula") if experiment != EXPERIMENTS[1] else ():
        (seed,) = job.run_ids
        assert (job.config.seed, job.config.target.model_seed) == (seed, seed)
        assert (job.config.target.training.iterations, job.config.task.burn_in) == (1000, 0)


def test_a_figure_shares_its_runs_with_the_other() -> None:
    """Figure 4 on MNIST is the first seed of Figure 3: what one has computed the other skips."""
    assert ids(jobs_at("pt_figure4", "scale=smoke")) < ids(jobs_at("pt_figure3", "scale=smoke"))
    four, three = (jobs_at(name, "scale=quick", "sampler=dula") for name in ("pt_figure4", "pt_figure3"))
    of_mnist = ids(job for job in four if job.config.target.dataset == "mnist")
    assert len(of_mnist) == 1
    assert of_mnist < ids(three)


def test_all_rows_that_ask_whether_tempering_pays_spend_the_same() -> None:
    """Steps times replicas, to a hundredth."""
    replicas = set()
    for job in jobs_at("rbm_tempering", "scale=quick", "task.start=random", "seed=0"):
        sampler = job.config.sampler
        ladder = sampler.get("ladder", [1.0])
        number = sampler.replicas if ladder == "auto" else len(ladder)
        if sampler.name != "ground_truth_draws":
            assert number * job.config.task.steps == pytest.approx(6400, rel=0.01), sampler.name
            replicas.add(number)
    assert replicas == {1, 4, 8, 16, 22}


@pytest.mark.parametrize(("experiment", "rows"), [("pt_table2_sampling", 5), ("pt_table2_learning", 4)])
def test_every_published_number_stands_in_the_table(experiment: str, rows: int) -> None:
    """Both versions print the same: five samplers by five sets, four where models are learned."""
    assert len(published_numbers(shape_of(experiment))) == 2 * (25 + 20)
    found = printed(experiment)
    metrics = shape_of(experiment).metrics
    places = [
        (version, metric.metric, column)
        for metric in metrics
        for version in metric.published
        for column in REAL
    ]
    assert Counter(place[:3] for place in found) == dict.fromkeys(places, rows)
    assert {number.rounding for number in found.values()} == {0.005}
    if rows == 5:
        number = found["v2", "log_mmd", "Caltech", "PT-DMALA"]
        assert (number.mean, number.sd) == (-4.98, 0.23)


def test_the_page_that_a_footnote_names_has_its_numbers() -> None:
    """The errors of the released estimator; the page has signs of minus."""
    (note,) = {
        str(metric.published_notes["v1"])
        for metric in shape_of("pt_table2_learning").metrics
        if "v1" in metric.published_notes
    }
    (named,) = re.findall(r"docs/\S+\.md", note)
    page = Path(__file__).parents[3].joinpath(named).read_text().replace("\u2212", "-")
    assert "+98…107 nats on MNIST, +246…316 on Caltech" in page
    assert all(number in page for number in ("-216…-235", "-476 and -470"))


def test_the_ordering_on_mnist_is_stated_with_a_test() -> None:
    first, second, _ = shape_of("pt_figure3").comparisons
    assert (first.metric, first.rows) == ("log_mmd", ["PT-DMALA", "DMALA"])
    assert (second.metric, second.rows) == ("log_mmd", ["PT-DMALA", "DMALA, step 0.15"])
