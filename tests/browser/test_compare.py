"""The page Compare: conditions, what is drawn of the runs that fit, and the link that keeps the selection."""

from __future__ import annotations

from typing import Any

import pytest

from metrics.inference.few_seeds import interval
from runner.report.figures.sampler_looks import LOOKS
from runner.report.selection.conditions import chosen_by
from runner.report.selection.stored_runs import stored_runs
from runner.site.build import Report
from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


def found(page: Any) -> str:
    """How many runs the page says that it has chosen."""
    said: str = page.locator("#found").inner_text()
    return said


def shown(page: Any) -> list[dict[str, Any]]:
    """The traces that Plotly shows."""
    traces: list[dict[str, Any]] = page.evaluate(
        """document.getElementById('plot').data.map((trace) => ({
            mode: trace.mode, type: trace.type, x: trace.x && [...trace.x], y: trace.y && [...trace.y],
            margin: trace.error_x && [...trace.error_x.array],
            below: trace.error_x && [...trace.error_x.arrayminus],
            colour: trace.marker && trace.marker.color,
            labels: trace.dimensions && trace.dimensions.map((each) => each.label)}))"""
    )
    return traces


def test_conditions_choose_runs_and_the_link_keeps_them(visit: Visit, report: Report) -> None:
    page = visit.open("compare.html")
    assert found(page) == "31 of 31 runs"
    page.get_by_role("group", name="experiment").get_by_label("none").check()
    page.get_by_role("group", name="sampler").get_by_label("dmala", exact=False).first.check()
    page.get_by_label("One more condition").select_option("sampler.step_size")
    page.get_by_role("group", name="sampler.step_size").get_by_label("20 (").check()
    page.locator("#metric").select_option("kl")
    wanted = chosen_by(["experiment=null", "sampler=dmala", "sampler.step_size=20"], stored_runs(report.root))
    assert found(page) == f"{len(wanted)} of 31 runs"
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    visit.ready()
    assert found(page) == f"{len(wanted)} of 31 runs"
    assert page.get_by_role("group", name="sampler.step_size").get_by_label("20 (").is_checked()
    assert page.locator("#metric").input_value() == "kl"
    page.get_by_role("button", name="Clear").click()
    assert found(page) == "31 of 31 runs"


def test_rows_have_the_colours_of_their_samplers_and_no_interval_leaves_the_range(visit: Visit) -> None:
    page = visit.open("compare.html#experiment=none&scale=quick&metric=emc")
    (rows,) = shown(page)
    assert [LOOKS[name.split(",")[0]][0] for name in rows["y"]] == rows["colour"]
    assert all(mean + margin <= 1.0 + 1e-12 for mean, margin in zip(rows["x"], rows["margin"], strict=True))
    assert rows["below"] == pytest.approx(
        [min(*pair) for pair in zip(rows["x"], rows["margin"], strict=True)]
    )
    assert rows["below"] != pytest.approx(rows["margin"]), "no interval reached below 0"


def test_means_and_intervals_are_those_of_the_runs(visit: Visit, report: Report) -> None:
    page = visit.open("compare.html#experiment=none&scale=quick&metric=kl")
    values: dict[str, list[float]] = {}
    for run in chosen_by(["experiment=null", "scale=quick"], stored_runs(report.root)):
        assert run.summary is not None
        name = f"{run.settings['sampler']}, step_size {run.settings['sampler.step_size']}"
        values.setdefault(name, []).append(run.summary["metrics"]["kl"])
    (trace,) = shown(page)
    assert sorted(trace["y"]) == sorted(values)
    assert len(values) == 6
    for name, mean, margin in zip(trace["y"], trace["x"], trace["margin"], strict=True):
        span = interval(values[name])
        assert span is not None
        assert (mean, margin) == pytest.approx((span.mean, span.margin), rel=1e-4)


def test_a_seed_of_the_same_settings_counts_once(visit: Visit) -> None:
    """A run of another version has the seed and the settings of the first one, and other numbers."""
    page = visit.open("compare.html#sampler=pt_dmala,dmala&scale=smoke&status=done&metric=kl&group=sampler")
    twice = page.evaluate("document.getElementById('plot').data[0].customdata")
    assert [said.rpartition(", ")[2] for said in twice] == ["n = 8", "n = 4"]


def test_runs_are_drawn_against_steps_evaluations_and_seconds(visit: Visit) -> None:
    page = visit.open("compare.html#experiment=none&sampler=acs&view=curves&metric=kl&sampler.step_size=5")
    lines = [trace for trace in shown(page) if trace["mode"] == "lines+markers"]
    assert lines[0]["x"] == [500, 1000, 1500, 2000]
    page.get_by_label("against").select_option("seconds")
    page.wait_for_function("document.getElementById('plot').data.some((trace) => trace.x[0] < 1)")
    lines = [trace for trace in shown(page) if trace["mode"] == "lines+markers"]
    assert lines[0]["x"] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert "along=seconds" in page.url


def test_parallel_coordinates_have_an_axis_for_each_varied_setting(visit: Visit) -> None:
    page = visit.open("compare.html#experiment=none&sampler=dmala,acs&view=parallel&metric=emc&status=done")
    (trace,) = shown(page)
    assert trace["type"] == "parcoords"
    assert {"sampler", "sampler.step_size"} <= set(trace["labels"])
    assert trace["labels"][-1].startswith("emc")


def test_a_selection_that_matches_nothing_is_one_sentence(visit: Visit) -> None:
    page = visit.open("compare.html#sampler=dmala&status=failed")
    assert "runs" in found(page)
    page = visit.open("compare.html#sampler=acs&status=failed")
    assert found(page) == "None of the 31 runs fits sampler=acs status=failed."
    assert page.locator("#listed tbody td").count() <= 1


def test_the_list_links_to_the_pages_of_runs(visit: Visit) -> None:
    page = visit.open("compare.html#status=done&experiment=made_up")
    page.locator("#listed tbody a").first.click()
    page.wait_for_url("**/runs/*.html")
    visit.ready()
    assert "seed" in page.locator("h1").inner_text()
