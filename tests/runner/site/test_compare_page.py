"""What the page Compare averages, and what it says of means: its script, in Node."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from metrics.inference.few_seeds import interval
from runner.config.run_settings import UNLISTED, Settings
from runner.report.figures.sampler_looks import LOOKS
from runner.report.selection.grid import varied_keys
from runner.site.content.charts import said_of
from runner.site.content.curves import Curve
from tests.support.site.compare_page import Compared, compare_page
from tests.support.site.run_entries import GIBBS, entry, seeds

BARS, CURVES = "view=bars&metric=tv", "view=curves&metric=tv&along=step"


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        (GIBBS, "target.data.content", "sha256:ab"),
        (GIBBS, "sampler.code", "12ab34cd"),
        (GIBBS | {"tuning.effort": None}, "tuning.effort", 0.05),
    ],
)
def test_runs_on_other_files_or_without_a_key_are_other_rows_as_in_a_table(
    before: Settings, key: str, after: str | float, tmp_path: Path
) -> None:
    """Those on the files that are known have no digest of them, and those of earlier versions lack keys."""
    other = GIBBS | {key: after}
    assert varied_keys([before, other]) == [key]
    runs = [*seeds(0, before, 0.1, 0.2, 0.3), *seeds(3, other, 0.5, 0.6, 0.7)]
    means = compare_page(tmp_path, runs, BARS).means
    assert [said.rpartition(", ")[2] for said in means.values()] == ["n = 3", "n = 3"]
    assert any(str(after) in row for row in means)


def test_a_key_that_another_task_does_not_read_makes_no_rows(tmp_path: Path) -> None:
    learned = GIBBS | {"task": "learn"}
    sampled = GIBBS | {"task": "sample", "target.model_seed": 0}
    runs = [*seeds(0, learned, 0.1, 0.2), *seeds(2, sampled, 0.5, 0.6)]
    assert list(compare_page(tmp_path, runs, BARS).means) == ["gibbs, task learn", "gibbs, task sample"]


def test_a_setting_that_only_some_samplers_have_makes_no_rows_of_its_own(tmp_path: Path) -> None:
    step = GIBBS | {"sampler": "dmala", "sampler.step_size": 0.1}
    runs = [*seeds(0, GIBBS, 0.1, 0.2), *seeds(2, step, 0.5, 0.6)]
    assert list(compare_page(tmp_path, runs, BARS).means) == ["dmala", "gibbs"]


@pytest.mark.parametrize("key", [*UNLISTED, "threads", "metric.mmd.bandwidth"])
def test_a_seed_of_which_a_second_run_kept_or_measured_more_counts_once(key: str, tmp_path: Path) -> None:
    runs = [*seeds(0, GIBBS, 0.1, 0.2, 0.3), *seeds(3, GIBBS | {key: 20}, 0.1, 0.2, 0.3)]
    (said,) = compare_page(tmp_path, runs, BARS).means.values()
    span = interval([0.1, 0.2, 0.3])
    assert span is not None
    assert said == said_of(span.lo, span.hi, 3)


def test_values_that_differ_by_rounding_alone_have_no_interval(tmp_path: Path) -> None:
    runs = seeds(0, GIBBS, 206.0, 206.0, 206.0000000000001)
    assert list(compare_page(tmp_path, runs, BARS).means.values()) == ["n = 3"]


@pytest.mark.parametrize("number", [2, 60, 61, 300])
def test_an_interval_is_that_of_a_table_however_many_seeds_there_are(number: int, tmp_path: Path) -> None:
    values = [math.sin(seed) for seed in range(number)]
    runs = seeds(0, GIBBS, *values)
    curves = {run.run_id: curve(run.metrics["tv"]) for run in runs}
    span = interval(values)
    assert span is not None
    (said,) = compare_page(tmp_path, runs, BARS).means.values()
    assert said == said_of(span.lo, span.hi, number)
    assert compare_page(tmp_path, runs, CURVES, curves).drawn[-1]["customdata"][-1] == said


def test_failed_seeds_are_marked_in_both_views(tmp_path: Path) -> None:
    runs = seeds(0, GIBBS, 0.1, 0.3, 0.5)
    runs[2] = replace(runs[2], status="failed", metrics={})
    curves = {run.run_id: curve(run.metrics["tv"]) for run in runs[:2]}
    bars, lines = (compare_page(tmp_path, runs, address, curves) for address in (BARS, CURVES))
    (means,), drawn = bars.drawn, lines.drawn[-1]
    assert [means["customdata"][0].rpartition(", ")[2], means["marker"]["symbol"]] == [
        "n = 2 of 3",
        ["circle-open"],
    ]
    assert [said.rpartition(", ")[2] for said in drawn["customdata"]] == ["n = 2 of 3"] * 2
    assert drawn["marker"]["symbol"] == ["circle-open"] * 2
    for page in (bars, lines):
        assert page.caption.endswith(", hollow: runs without a value are left out")


def test_along_the_runs_a_seed_without_points_is_not_one_without_a_value(tmp_path: Path) -> None:
    runs = seeds(0, GIBBS, 0.1, 0.3, 0.5)
    curves = {run.run_id: curve(run.metrics["tv"]) for run in runs[:2]}
    lines = compare_page(tmp_path, runs, CURVES, curves)
    assert [said.rpartition(", ")[2] for said in lines.drawn[-1]["customdata"]] == ["n = 2"] * 2
    assert "hollow" not in lines.caption


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("target.components=8", "3 of 3 runs"),
        ("target.components=4", "None of the 3 runs fits target.components=4."),
        ("target.components=4,8&sampler=gibbs", "3 of 3 runs"),
        ("smapler=gibbs", "None of the 3 runs fits smapler=gibbs: no run has the setting smapler."),
        ("a=1&b=2", "None of the 3 runs fits a=1 b=2: no run has the settings a, b."),
        ("sampler=gibs", "None of the 3 runs fits sampler=gibs."),
        # A link of before the runs that had the setting were removed.
        ("sampler.ladder=none", "3 of 3 runs"),
        ("main", "3 of 3 runs"),
    ],
)
def test_a_condition_of_a_link_that_no_setting_varies_by_still_holds(
    condition: str, found: str, tmp_path: Path
) -> None:
    """It was left out, so that the page showed all runs."""
    page = compare_page(tmp_path, seeds(0, GIBBS, 0.1, 0.2, 0.3), f"{condition}&{BARS}")
    assert page.found == found
    assert bool(page.drawn) == found.startswith("3 of")


@pytest.mark.parametrize("condition", ["smapler=gibbs", "sampler=gibs", "target.components=4"])
def test_a_condition_that_no_run_fits_can_be_taken_away(condition: str, tmp_path: Path) -> None:
    """It has a box that is ticked, without which the next choice would drop it unseen."""
    page = compare_page(tmp_path, seeds(0, GIBBS, 0.1, 0.2, 0.3), f"{condition}&{BARS}")
    assert page.ticked == dict([condition.split("=")])


def lines_of(folder: Path, number: int) -> Compared:
    """The curves of runs of one sampler with as many step sizes."""
    dmala = GIBBS | {"sampler": "dmala"}
    runs = [entry(place, 0, dmala | {"sampler.step_size": place}, tv=0.1) for place in range(number)]
    return compare_page(folder, runs, CURVES, {run.run_id: curve(0.1) for run in runs})


def test_a_single_run_that_does_not_fit_is_the_only_one(tmp_path: Path) -> None:
    assert (
        compare_page(tmp_path, seeds(0, GIBBS, 0.1), "sampler=gibs").found
        == "The only run does not fit sampler=gibs."
    )


def test_the_link_to_the_content_keeps_the_conditions(tmp_path: Path) -> None:
    """They stand in the address, in the place that the link would have taken."""
    assert compare_page(tmp_path, seeds(0, GIBBS, 0.1, 0.2), f"sampler=gibbs&{BARS}").skipped


def test_lines_of_one_sampler_differ_in_dashes_and_markers(tmp_path: Path) -> None:
    """The seventh was as the first."""
    drawn = lines_of(tmp_path, 42).drawn
    assert {trace["line"]["color"] for trace in drawn} == {LOOKS["dmala"][0]}
    looks = [(trace["line"]["dash"], *set(trace["marker"]["symbol"])) for trace in drawn]
    assert len(set(looks)) == 42
    assert looks[0] == ("solid", "circle")
    assert all(not set(one) & set(other) for one, other in pairwise(looks))


def test_it_is_said_where_more_lines_have_one_colour_than_there_are_looks(tmp_path: Path) -> None:
    said = ", more than 42 lines of one colour: some look alike, pointing at one names it"
    for number, ends in (42, False), (43, True):
        assert lines_of(tmp_path, number).caption.endswith(said) == ends


def curve(end: float) -> dict[str, Curve]:
    """The metric at two recorded points."""
    return {"tv": Curve([50, 100], [50.0, 100.0], [0.1, 0.2], [2 * end, end])}
