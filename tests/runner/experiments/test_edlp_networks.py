"""The experiments on binary networks: settings of the paper, shared runs, and the published numbers."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from runner.config.overrides import Names
from runner.report.published import published_numbers
from tests.support.tables import ids, jobs_at, printed, shape_of

SETS = ["compas", "news", "adult", "blog"]
HIDDEN = {"compas": 500, "news": 100, "adult": 100, "blog": 100, "breast_cancer": 10}
# EDLP, Table 4: alpha_a and eta.
TABLE_4 = {
    "EDULA": {"compas": (0.01, 4.0), "news": (0.01, 2.0), "adult": (0.0001, 2.0), "blog": (0.01, 1.0)},
    "EDMALA": {"compas": (0.001, 4.0), "news": (0.0001, 0.8), "adult": (0.0001, 4.0), "blog": (0.0001, 1.0)},
}


def test_at_paper_every_sampler_has_the_settings_of_the_paper_on_every_set() -> None:
    found = jobs_at("edlp_table2", "scale=paper")
    sizes = Counter((job.config.target.tabular, job.config.target.n_hidden) for job in found)
    assert sizes == dict.fromkeys([*((name, HIDDEN[name]) for name in SETS), ("compas", 100)], 8)
    for job in found:
        config, name = job.config, job.config.target.tabular
        assert config.target.rows is None
        assert (config.task.steps, config.task.chains, config.task.burn_in) == (1001, 50, 0)
        if job.row not in ("Gibbs", "GWG"):
            assert config.sampler.step_size == 0.1
        plain = job.row.removesuffix("-GLU")
        if plain in TABLE_4:
            alpha_a, eta = TABLE_4[plain][name]
            assert config.sampler.eta == eta
            if job.row == plain:
                assert config.sampler.auxiliary_step_size == alpha_a


def test_table_3_has_the_runs_of_table_2() -> None:
    two, three = (Names([]).composed(f"+experiment=edlp_table{number}") for number in (2, 3))
    assert two["sweep"] == three["sweep"]
    runs = ids(jobs_at("edlp_table2", "scale=smoke"))
    assert runs == ids(jobs_at("edlp_table3", "scale=smoke"))
    assert len(runs) == 16


@pytest.mark.parametrize("experiment", ["edlp_table2", "edlp_table3", "edlp_figure5", "edlp_figure15"])
def test_smoke_needs_no_data(experiment: str) -> None:
    assert {job.config.target.tabular for job in jobs_at(experiment, "scale=smoke")} == {"breast_cancer"}


@pytest.mark.parametrize("experiment", ["edlp_table2", "edlp_figure5"])
def test_no_words_name_a_number_of_networks_that_another_scale_has_not(experiment: str) -> None:
    numbers = {
        job.config.task.chains
        for scale in ("smoke", "paper")
        for job in jobs_at(experiment, f"scale={scale}")
    }
    assert numbers == {20, 50}
    shape = shape_of(experiment)
    said = [shape.title, shape.caption, *(metric.note or "" for metric in shape.metrics)]
    assert not re.findall(r"\d+ networks", " ".join(said))


def test_a_step_is_timed_by_itself_for_every_seed() -> None:
    """A batch of seeds would divide its time among them."""
    found = jobs_at("edlp_figure15", "scale=smoke")
    assert [len(job.run_ids) for job in found] == [1] * 16
    assert {job.config.task.chains for job in found} == {50}


@pytest.mark.parametrize("experiment", ["edlp_table2", "edlp_table3"])
def test_every_published_number_has_a_place_in_the_table(experiment: str) -> None:
    placed = {id(number) for number in printed(experiment).values()}
    assert len(placed) == len(published_numbers(shape_of(experiment))) == 24


def test_figure_5_has_a_column_for_every_eta() -> None:
    etas = {job.config.sampler.eta for job in jobs_at("edlp_figure5", "scale=paper")}
    assert etas == {column.where["sampler.eta"] for column in shape_of("edlp_figure5").columns}
    assert (min(etas), max(etas)) == (0.02, 5.0)


def test_a_sweep_of_one_set_keeps_its_settings() -> None:
    found = jobs_at("edlp_table2", "scale=quick", "target.tabular=news")
    assert {(job.config.target.tabular, job.config.target.n_hidden) for job in found} == {("news", 100)}
    assert [job.config.sampler.eta for job in found if job.row == "EDMALA"] == [0.8]
