"""Runs chosen by their settings, and the table of any selection of them."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from omegaconf import OmegaConf

import runner
from metrics.reserved_names import RESERVED
from runner import status, table
from runner.config.compose import compose
from runner.config.run_settings import as_named, changed_settings, flat_settings
from runner.execution.command_line import with_config_dir
from runner.execution.errors import UserError
from runner.library.selected_runs import load_runs, selected_runs
from runner.report import selection_table
from runner.report.page import grid_lines
from runner.report.runs.stored_results import Results
from runner.report.selection import grid_figures
from runner.report.selection.conditions import chosen_by
from runner.report.selection.equal_cost import lengths_at_equal_cost
from runner.report.selection.grid import Grid, grid_of, places_of, varied_keys
from runner.report.selection.stored_runs import StoredRun, runs_frame, stored_runs
from runner.report.selection_table import show_runs
from runner.report.table_shape import Direction, MetricShape, TableShape
from runner.store.run_folder import RunFolder
from runner.store.written_config import written_settings
from tests.support.commands import Call, finished

GRID = (
    "-m",
    "target=bernoulli4",
    "sampler=gibbs,dmala",
    "seed=range(0,3)",
    "metric=[tv,jump,kl]",
    "task.chains=3",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two sweeps: 12 runs of two samplers at two lengths, and 6 of DMALA at two step sizes."""
    root = tmp_path_factory.mktemp("store")
    finished(root, *GRID, "task.steps=20,40")
    return finished(root, *GRID, "sampler=dmala", "sampler.step_size=0.5,2", "task.steps=20")


@dataclass(frozen=True)
class Described:
    described: dict[str, Any]


RUNS = [
    Described({"sampler": "pt_dmala", "sampler.step_size": 2, "seed": 0}),
    Described({"sampler": "dmala", "sampler.step_size": 0.5, "seed": 1}),
    Described({"sampler": "dmala", "sampler.step_size": "auto", "seed": 2}),
    Described({"sampler": "gibbs", "seed": 3}),
    Described({"sampler": "acs", "sampler.ladder": "[1, 0.5]", "seed": 4}),
]


@pytest.mark.parametrize(
    ("condition", "seeds"),
    [
        ("sampler=dmala", [1, 2]),
        ("sampler=dmala,gibbs", [1, 2, 3]),
        ("sampler=glob(*dmala)", [0, 1, 2]),
        ("sampler.step_size=2.0", [0]),
        ("sampler.step_size=0.5,auto", [1, 2]),
        ("seed=range(1,3)", [1, 2]),
        ("sampler.step_size=range(0.2,0.6,0.1)", [1]),
        ("sampler.step_size=null", []),
        ("sampler.ladder=[1,0.5]", [4]),
        ("sampler.ladder=[1.0,0.5]", [4]),
    ],
)
def test_a_condition_is_written_as_an_override(condition: str, seeds: list[int]) -> None:
    assert [run.described["seed"] for run in chosen_by([condition], RUNS)] == seeds


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (
            "sampler.stepsize=2",
            "No run has the setting 'sampler.stepsize'; did you mean 'sampler.step_size'?",
        ),
        ("sampler.step_size=interval(0,1)", "A condition needs values"),
        ("seed=range(0,1000000000)", "must be a range of at most 100,000 values."),
        ("~sampler", "A condition has the form key=value"),
        ("+sampler=dmala", "A condition has the form key=value"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(condition: str, said: str) -> None:
    with pytest.raises(UserError, match=said.replace("?", r"\?")):
        chosen_by([condition], RUNS)


@pytest.mark.parametrize(
    ("lines", "changed"),
    [
        ((), {}),
        (("sampler=dmala", "sampler.step_size=3"), {"sampler": "dmala", "sampler.step_size": 3}),
        (("sampler=pt_dmala", "sampler.swap.intensity=0.5"), {"sampler.swap.intensity": 0.5}),
        (
            ("sampler=gibbs", "tempering=parallel", "tempering.replicas=4"),
            {"sampler": "pt_gibbs", "sampler.replicas": 4},
        ),
        # A scale moves the defaults of the task with it.
        (("scale=smoke", "target=mos"), {"scale": "smoke", "target": "mos"}),
        (("task.steps=2000", "dtype=float64"), {"dtype": "float64"}),
        # Neither the choice of metrics nor the pilots' effort that a scale brings is a change.
        (("metric=[time_to_target,kl]", "scale=smoke"), {"scale": "smoke"}),
        (
            ("metric=time_to_target", "metric.time_to_target.gap=0.5", "tuning.effort=0.2"),
            {"metric.time_to_target.gap": 0.5, "tuning.effort": 0.2},
        ),
    ],
)
def test_settings_that_differ_from_the_defaults(lines: tuple[str, ...], changed: dict[str, Any]) -> None:
    assert changed_settings(written_settings(compose(lines))) == changed


def test_a_class_of_the_users_own_has_no_defaults() -> None:
    config = written_settings(compose(["target=mog"]))
    config["target"] = {"name": "Mine", "_target_": "mine.Mine", "d": 5}
    assert changed_settings(config) == {"target": "Mine", "target._target_": "mine.Mine", "target.d": 5}
    config["metric"]["tv"]["_target_"] = "mine.TV"
    assert changed_settings(config)["metric.tv._target_"] == "mine.TV"


def test_settings_of_one_id_are_the_same_however_they_are_written() -> None:
    written = [
        flat_settings(written_settings(compose(["sampler=pt_dmala", *lines])))
        for lines in (
            ("sampler.step_size=2", "sampler.ladder=[1,0.5]"),
            ("sampler.step_size=2.0", "sampler.ladder=[1.0,0.5]"),
        )
    ]
    for settings in written:
        labels = [str(settings[f"sampler.{key}"]) for key in ("step_size", "ladder")]
        assert labels == ["2", "[1, 0.5]"]
    assert varied_keys(written) == []
    assert (
        flat_settings({"target": {"name": "mine", "far": [1e30, math.inf]}})["target.far"] == "[1e+30, inf]"
    )


def test_what_varies_is_told_from_what_follows() -> None:
    """Neither a default of another option nor a setting that follows an earlier one is varied."""
    common = {"target": "mog", "task": "sample", "scale": "quick"}
    settings = [
        {**common, "sampler": sampler, **own, "task.steps": steps, "task.burn_in": steps // 5}
        for sampler, own in (("gibbs", {"sampler.scan": "random"}), ("dmala", {"sampler.norm": 2.0}))
        for steps in (20, 40)
    ]
    assert varied_keys(settings) == ["sampler", "task.steps"]
    # Two commands may compare samplers on different problems by mistake: that must be seen.
    settings[0]["target"], settings[0]["scale"] = "mos", "smoke"
    assert varied_keys(settings) == ["target", "sampler", "task.steps"]
    # A scale that goes with the sampler is another budget within a column: not to be compared.
    settings = [
        {"target": "mog", "sampler": sampler, "scale": scale, "task.chains": chains}
        for sampler, scale, chains in (("dmala", "smoke", 20), ("acs", "quick", 100))
    ]
    assert varied_keys(settings) == ["sampler", "scale"]
    settings[1]["target"] = "mos"
    assert varied_keys(settings) == ["target", "sampler"]


def test_the_hottest_temperature_tells_ladders_apart_whose_runs_have_the_key_or_not() -> None:
    """It is left out of ids where it is 0, so that a run's own configuration has none then."""
    tempered = ("sampler=dmala", "tempering=parallel")
    plain, hot = (
        written_settings(compose([*tempered, f"tempering.hottest={hottest}"])) for hottest in (0, 0.5)
    )
    assert "hottest" not in plain["sampler"]
    found = [flat_settings(each) for each in (plain, hot)]
    assert [each["sampler.hottest"] for each in found] == [0, 0.5]
    assert varied_keys(found) == ["sampler.hottest"]
    assert changed_settings(plain) == {}


def test_a_compiled_run_is_in_a_cell_of_its_own() -> None:
    plain = written_settings(compose(["target=bernoulli4", "sampler=dmala"]))
    both = [flat_settings(plain), flat_settings(plain | {"compile": True})]
    assert varied_keys(both) == ["compile"]
    assert [settings["compile"] for settings in both] == [False, True]


def test_runs_as_a_frame(store: Path) -> None:
    frame = load_runs("sampler=dmala", "task.steps=20", output_root=store)
    assert len(frame) == 9
    assert set(frame["sampler.step_size"]) == {"auto", 0.5, 2}
    one = frame[(frame["seed"] == 1) & (frame["sampler.step_size"] == 2)].iloc[0]
    rows = pd.read_csv(store / "runs" / one["run_id"] / "metrics.csv")
    assert one["tv"] == rows.loc[rows["metric"] == "tv", "value"].iloc[-1]
    summary = json.loads((store / "runs" / one["run_id"] / "summary.json").read_text())
    assert summary["settings"]["sampler.step_size"] == 2
    assert (one["steps"], one["seconds"]) == (20, summary["seconds"])
    assert frame.loc[frame["sampler.step_size"] == "auto", "tuned.step_size"].gt(0).all()
    assert runner.load_runs is load_runs


def test_a_frame_has_its_columns_also_without_rows_or_costs(store: Path) -> None:
    promised = ["run_id", "status", "experiment", "seed", "steps", "evaluations", "seconds", "wall_seconds"]
    none = load_runs("seed=12345", output_root=store)
    assert (len(none), list(none), list(none["seed"])) == (0, promised, [])
    begun = runs_frame([replace(stored_runs(store)[0], summary=None)])
    assert set(promised) <= set(begun)
    assert begun["seconds"].isna().all()


def test_no_value_of_a_metric_hides_a_setting(store: Path) -> None:
    run = stored_runs(store)[0]
    assert run.summary is not None
    named = {"seed": 42.0, "sampler": 43.0, "tv": 0.5}
    frame = runs_frame([replace(run, summary={**run.summary, "metrics": named})])
    assert frame[["seed", "sampler", "tv"]].values.tolist() == [[run.seed, run.settings["sampler"], 0.5]]


def test_the_name_of_a_setting_is_none_of_a_metric_s_value() -> None:
    described = {"run_id", "status", "experiment", "seed", "tuned"}
    given = ["target=rbm", "target.dataset=digits", "sampler=dmala", "model=null", "tuning.effort=0.5"]
    keys = flat_settings(written_settings(compose(given)))
    assert described | {key.split(".", 1)[0] for key in keys} <= set(RESERVED)


EXPERIMENT = """# @package _global_
experiment: mine
sweep:
  rows: [{row: Gibbs, sampler: gibbs}, {row: DMALA, sampler: dmala}]
  overrides: {target: bernoulli4, metric: "[tv,jump,kl]", task.steps: 20, task.chains: 3}
  seeds: {smoke: 3, quick: 3, paper: 3}
"""


def test_an_experiment_has_the_runs_that_other_commands_computed(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its six runs are among those of plain sweeps, which have noted no experiment, or another one."""
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(EXPERIMENT)
    frame = load_runs("experiment=mine", output_root=store, config_dir=tmp_path)
    assert sorted(zip(frame["sampler"], frame["seed"], strict=True)) == [
        (sampler, seed) for sampler in ("dmala", "gibbs") for seed in range(3)
    ]
    assert set(frame["experiment"]) == {"mine"}
    assert set(frame["task.steps"]) == {20}
    line = ["runs", "experiment=mine", f"output_root={store}", "--config-dir", str(tmp_path)]
    assert status.main(line) == 0
    assert re.findall(r"│\s+(\d+)", capsys.readouterr().out) == ["3", "3", "6"]
    # What the runs have noted is what is on the disk, and what a logger copies.
    chosen = selected_runs(with_config_dir(line[1:3], str(tmp_path)))
    assert {run.config.get("experiment") for run in chosen.runs} == {None}
    assert load_runs("experiment=null", output_root=store)["experiment"].isna().all()


def test_load_runs_refuses_what_the_command_refuses(store: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"There are no runs under output_root={tmp_path}"):
        load_runs(output_root=tmp_path)
    with pytest.raises(TypeError, match="conditions are texts, as load_runs"):
        load_runs(["sampler=dmala"], output_root=store)  # type: ignore[arg-type]
    assert len(load_runs("sampler=gibbs", f"output_root={store}")) == 6


def test_a_condition_may_name_a_setting_that_is_not_listed(call: Call) -> None:
    """`task.keep` and `task.series`, which earlier versions had not, where they change nothing."""
    small = ("-m", "target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=3")
    assert call(*small, "task.series=0,10").status == 0
    other = call(*small[1:3], "task=log_partition", "task.temperatures=3", "scale=smoke")
    assert other.status == 0, other.err
    assert sorted(load_runs("task.series=0,10")["task"]) == ["sample", "sample"]
    assert list(load_runs("task.series=10")["task.series"]) == [10]
    listed = load_runs("task.series=0")
    assert (len(listed), "task.series" in listed) == (1, False)
    assert list(load_runs("task.keep=0")["task"]) == ["sample", "sample"]
    assert table.main(["runs", "task.keep=0"]) == 0


def test_the_table_of_a_selection_is_that_of_its_runs(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = chosen_by(["sampler=dmala", "sampler.step_size=0.5,2"], stored_runs(store))
    grid, summary = show_runs(runs, "two step sizes", sort="jump")
    assert grid.keys == ["sampler.step_size"]
    frame = load_runs("sampler.step_size=0.5,2", output_root=store)
    for size in (0.5, 2):
        entry = summary.at("tv", f"dmala, step_size={size}", "bernoulli4")
        assert entry.interval is not None
        assert entry.interval.mean == pytest.approx(
            frame.loc[frame["sampler.step_size"] == size, "tv"].mean()
        )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["step_size", "jump", "↑"]
    jumps = [float(line.split()[1]) for line in lines[2:4]]
    assert jumps == sorted(jumps, reverse=True)


def test_a_page_of_80_columns_shows_whole_numbers(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_runs(stored_runs(store), "all")
    out = capsys.readouterr().out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_problems_are_not_compared_with_each_other(store: Path) -> None:
    grid = grid_of(stored_runs(store), "all")
    assert [column.label for column in grid.shape.columns] == ["bernoulli4, steps=20", "bernoulli4, steps=40"]
    assert {row.row for row in grid.shape.rows} == {
        "gibbs", "dmala, step_size=auto", "dmala, step_size=0.5", "dmala, step_size=2",
    }  # fmt: skip


@pytest.fixture(scope="module")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DMALA for 20 and 40 steps, and two tempered replicas of it for 20."""
    root = tmp_path_factory.mktemp("lengths")
    common = ("-m", "target=bernoulli4", "seed=0,1", "metric=tv", "task.chains=3", "sampler.step_size=0.5")
    finished(root, *common, "sampler=dmala", "task.steps=20,40")
    return finished(root, *common, "sampler=pt_dmala", "sampler.ladder=[1,0.5]", "task.steps=20")


def test_samplers_of_different_lengths_are_compared_at_equal_evaluations(
    lengths: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = chosen_by(["sampler=pt_dmala"], stored_runs(lengths)) + chosen_by(
        ["task.steps=40"], stored_runs(lengths)
    )
    assert {(run.summary or {})["evaluations"] for run in runs} == {40}
    grid, summary = show_runs(runs, "equal cost")
    assert [column.label for column in grid.shape.columns] == ["bernoulli4"]
    assert [row.row for row in grid.shape.rows] == ["dmala, steps=40", "pt_dmala, steps=20"]
    assert grid.shape.caption.endswith("and took as many evaluations of the target.")
    assert sum(entry.best for entry in summary if entry.metric == "tv") == 1
    assert capsys.readouterr().out.split()[:3] == ["sampler", "steps", "tv"]


def test_draws_for_reference_leave_the_others_at_equal_cost() -> None:
    """Exact draws take no evaluations, whatever the others take."""

    def of(*rows: tuple[str, int, float]) -> bool:
        runs = [
            SimpleNamespace(settings={"sampler": name, "task.steps": steps}, summary={"evaluations": cost})
            for name, steps, cost in rows
        ]
        return lengths_at_equal_cost(cast("list[StoredRun]", runs), ["sampler"], ["target", "task.steps"])

    ours = ("dmala", 40, 40.0), ("pt_dmala", 20, 40.0)
    assert of(*ours)
    assert of(*ours, ("exact_draws", 30, 0.0))
    assert not of(*ours, ("gibbs", 30, 30.0))


def test_a_condition_on_evaluations_selects_rows_of_equal_cost(lengths: Path) -> None:
    """Beside 20 steps of DMALA its 40 steps and two replicas of 20 share no column."""
    chosen = selected_runs(["evaluations=40", f"output_root={lengths}"]).runs
    grid = grid_of(chosen, "equal cost")
    assert [row.row for row in grid.shape.rows] == ["dmala, steps=40", "pt_dmala, steps=20"]
    assert len(grid.shape.columns) == 1
    unfinished = [replace(run, summary=None) for run in stored_runs(lengths)]
    with pytest.raises(UserError, match="No run has the setting 'evaluations'"):
        chosen_by(["evaluations=40"], unfinished)


@pytest.mark.parametrize("chosen", [lambda run: True, lambda run: run.settings["task.steps"] == 20])
def test_at_unequal_evaluations_steps_make_columns(lengths: Path, chosen: Callable[[Any], bool]) -> None:
    grid = grid_of([run for run in stored_runs(lengths) if chosen(run)], "all")
    lengths_of_rows = [row.row for row in grid.shape.rows if "steps" in row.row]
    assert not lengths_of_rows
    assert "evaluations" not in grid.shape.caption


def test_a_length_whose_cost_is_not_known_makes_a_column(lengths: Path) -> None:
    """All runs of the tempered sampler are interrupted; with one of them done its cost is known."""
    runs = chosen_by(["sampler=pt_dmala"], stored_runs(lengths)) + chosen_by(
        ["task.steps=40"], stored_runs(lengths)
    )
    for lost, columns in ((2, 2), (1, 1)):
        known = [
            replace(run, status="interrupted", summary=None) if place < lost else run
            for place, run in enumerate(runs)
        ]
        grid = grid_of(known, "interrupted")
        assert len(grid.shape.columns) == columns
        assert ("as many evaluations" in grid.shape.caption) == (columns == 1)


def test_options_of_metrics_and_of_tuning_tell_lines_apart(tmp_path: Path) -> None:
    """Both enter the id of a run: without lines of their own the last run would stand for all."""
    metrics = ("metric=[time_to_target,best_log_prob]", "metric.time_to_target.gap=0.01,0.5")
    graph = ("target=maxcut", "target.graph.nodes=6", "sampler=gibbs", "task.steps=20", "task.chains=3")
    finished(tmp_path, "-m", *graph, *metrics, "seed=0,1")
    finished(tmp_path, "-m", *graph, "metric=best_log_prob", "seed=0,1")
    dmala = ("target=bernoulli4", "sampler=dmala", "metric=tv", "task.steps=20", "task.chains=3")
    finished(tmp_path, "-m", *dmala, "tuning.effort=0.05,0.1")
    runs = stored_runs(tmp_path)
    grid = grid_of(chosen_by(["target=maxcut"], runs), "gaps")
    assert grid.keys == ["metric.time_to_target.gap"]
    columns = ["maxcut, time_to_target.gap=0.01", "maxcut, time_to_target.gap=0.5", "maxcut"]
    assert [column.label for column in grid.shape.columns] == columns
    assert [len(grid.results.values("gibbs", column, "time_to_target_reached")) for column in columns][
        :2
    ] == [
        2,
        2,
    ]
    grid = grid_of(chosen_by(["sampler=dmala"], runs), "efforts")
    assert [row.row for row in grid.shape.rows] == ["dmala, effort=0.05", "dmala, effort=0.1"]
    assert len(chosen_by(["metric.time_to_target.gap=0.5"], runs)) == 2


def test_runs_with_other_metrics_share_a_line_and_keep_their_values(tmp_path: Path) -> None:
    common = ("target=bernoulli4", "sampler=gibbs", "seed=0,1", "task.steps=20", "task.chains=3")
    for metric in ("tv", "kl"):
        finished(tmp_path, "-m", *common, f"metric=[{metric}]")
    grid, summary = show_runs(stored_runs(tmp_path), "both", everything=True)
    assert (grid.keys, grid.results.seeds, grid.shape.notes) == ([], 2, [])
    for metric in ("tv", "kl"):
        entry = summary.at(metric, "gibbs", "bernoulli4")
        assert entry.interval is not None
        assert (entry.interval.n, entry.seeds, entry.expected) == (2, None, 2)


def test_two_values_of_one_place_are_not_merged_silently(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = chosen_by(["sampler=gibbs", "task.steps=20", "seed=0"], stored_runs(store))[0]
    assert run.summary is not None
    other = {**run.summary, "metrics": {**run.summary["metrics"], "tv": 0.5}}
    later = replace(run, folder=RunFolder(store / "runs" / "ffff"), summary=other)
    said = f"seed 0: the runs {run.folder.run_id}, ffff have different values of tv; the first is shown."
    _, summary = show_runs([run, later], "two")
    entry = summary.at("tv", "gibbs", "bernoulli4")
    assert entry.interval is not None
    assert entry.interval.mean == run.summary["metrics"]["tv"]
    assert said in " ".join(capsys.readouterr().out.split())


def test_what_must_accompany_numbers_of_data_stands_below_a_grid(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = chosen_by(["sampler=gibbs", "seed=0"], stored_runs(store))
    noted = [replace(run, summary={**(run.summary or {}), "notes": ["subset: 2 of 3"]}) for run in runs]
    show_runs(noted, "all")
    assert capsys.readouterr().out.count("\nSubset: 2 of 3.\n") == 1
    show_runs([runs[0], *noted[1:]], "one")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Subset" in line]
    steps = noted[1].settings["task.steps"]
    assert line == f"bernoulli4, steps={steps}: Subset: 2 of 3."


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ({"gibbs": (0, 1), "dmala": (0, 1)}, "Mean ± half the 95 % interval, n = 2 seeds."),
        ({"gibbs": (0, 1, 2), "dmala": (0,)}, "Mean ± half the 95 % interval, n = 1 to 3 seeds."),
        ({"gibbs": (1,), "dmala": (1,)}, "One seed, without an interval or a test."),
    ],
)
def test_the_sentence_below_a_grid_says_how_many_seeds(
    store: Path, seeds: dict[str, tuple[int, ...]], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = chosen_by(["task.steps=20", "sampler.step_size=auto"], stored_runs(store))
    runs += chosen_by(["task.steps=20", "sampler=gibbs"], stored_runs(store))
    show_runs([run for run in runs if run.seed in seeds[run.settings["sampler"]]], "some")
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_grid_without_chance_has_no_seeds_and_explains_its_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished(tmp_path, "-m", "task=spectral_gap", "target=bernoulli4", "sampler=gibbs,dula")
    show_runs(stored_runs(tmp_path), "gaps")
    out = " ".join(capsys.readouterr().out.split())
    assert "†: not exact" in out
    assert "seed" not in out


def test_a_mark_that_no_line_has_is_not_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sampler, which is the same in all lines, is not named in any."""
    finished(
        tmp_path, "-m", "task=spectral_gap", "target=bernoulli4", "sampler=dula", "sampler.step_size=0.2,0.4"
    )
    capsys.readouterr()
    show_runs(stored_runs(tmp_path), "gaps")
    out = " ".join(capsys.readouterr().out.split())
    assert "†" not in out
    assert "The sampler is not exact: it does not leave its target invariant." in out


def test_the_data_set_that_a_model_learned_from_is_said() -> None:
    both = [SimpleNamespace(settings={"task.dataset": name}) for name in (None, "digits")]
    places = places_of(cast(Any, both))
    assert [column for _, column in places.labels] == [
        "no target, dataset=the model's own",
        "no target, dataset=digits",
    ]
    assert [places.column_settings[column]["task.dataset"] for _, column in places.labels] == [
        "the model's own",
        "digits",
    ]


@pytest.mark.parametrize(
    "condition", ["sampler='gibbs','dmala'", "sampler='gibbs',dmala", 'sampler="gibbs","dmala"', "seed=[0,1]"]
)
def test_quoted_values_and_lists_of_seeds_are_conditions(store: Path, condition: str) -> None:
    plain = {"seed=[0,1]": "seed=0,1"}.get(condition, "sampler=gibbs,dmala")
    runs = stored_runs(store)
    found = chosen_by([condition], runs)
    assert found == chosen_by([plain], runs) != []


def test_a_target_and_a_sampler_may_have_one_name() -> None:
    common = {"scale": "quick", "task": "sample"}
    runs = [
        SimpleNamespace(settings={**common, "target": target, "sampler": sampler}, config={})
        for target in ("ring", "mog")
        for sampler in ("ring", "gibbs")
    ]
    places = places_of(cast(Any, runs))
    assert places.row_settings == {name: {"sampler": name} for name in ("ring", "gibbs")}
    assert places.column_settings == {name: {"target": name} for name in ("ring", "mog")}


def test_settings_of_different_options_do_not_decide_each_other() -> None:
    common = {"target": "mog", "scale": "quick"}
    settings: list[dict[str, Any]] = [
        {**common, "sampler": "dmala", "sampler.step_size": 0.1},
        {**common, "sampler": "dmala", "sampler.step_size": 0.2},
        {**common, "sampler": "gibbs", "sampler.scan": "random"},
        {**common, "sampler": "gibbs", "sampler.scan": "fixed"},
    ]
    assert varied_keys(settings) == ["sampler", "sampler.step_size", "sampler.scan"]


def test_a_grid_ends_with_its_numbers_and_an_experiment_does_not(call: Call, tiny: str) -> None:
    ended = call(
        "-m", "target=bernoulli4", "sampler=gibbs,dula", "metric=tv", "task.steps=20", "task.chains=3"
    )
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert lines[0].split() == ["sampler", "tv", "↓"]
    assert [line.split()[0] for line in lines[2:4]] == ["dula†", "gibbs"]
    assert lines[-1] == "2 runs done."
    assert call("-m", "+experiment=tiny", tiny, "seed=0").out.splitlines() == ["8 runs done."]


def test_the_command_writes_the_table_and_its_figures(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(store.parent)
    assert table.main(["runs", "sampler=dmala", f"output_root={store}", "--all"]) == 0
    out = capsys.readouterr().out
    folder = Path(out.splitlines()[-1].removeprefix("Written to "))
    assert folder.parent == store / "tables" / "runs"
    names = {path.name for path in folder.iterdir()}
    assert names >= {"table.csv", "table.md", "table.tex", "intervals.png", "intervals.pdf"}
    frame = pd.read_csv(folder / "table.csv")
    assert set(frame["row"]) == {"dmala, step_size=auto", "dmala, step_size=0.5", "dmala, step_size=2"}
    assert "jump" in out


def test_figures_show_all_columns_and_say_which_metrics_they_leave_out(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They had the first four columns, without a word, and files were the same whatever `--sort` was."""
    monkeypatch.setattr(grid_figures, "ACROSS", 1)
    monkeypatch.setattr(grid_figures, "METRICS", 2)
    (drawn,) = drawn_panels(store, monkeypatch, "jump")
    assert drawn == [(name, label) for name in ("jump", "tv") for label in COLUMNS]
    said = "Figures show the first 2 of 3 metrics; --sort METRIC makes a metric the first."
    out, (folder,) = capsys.readouterr().out.splitlines(), (store / "tables" / "runs").glob("sampler=gibbs*")
    assert said in out
    assert said in (folder / "table.md").read_text()
    assert pd.read_csv(folder / "table.csv")["metric"][0] == "jump"
    (drawn,) = drawn_panels(store, monkeypatch, "evaluations")
    assert {name for name, _ in drawn} == {"evaluations", "tv"}
    monkeypatch.setattr(grid_figures, "PANELS", 2)
    (drawn,) = drawn_panels(store, monkeypatch, "kl")
    assert drawn == [(name, COLUMNS[0]) for name in ("kl", "tv")]
    assert "the first 2 of 3 metrics and the first 1 of 2 columns;" in capsys.readouterr().out


COLUMNS = ["bernoulli4, steps=20", "bernoulli4, steps=40"]


def drawn_panels(store: Path, monkeypatch: pytest.MonkeyPatch, sort: str) -> list[list[tuple[str, str]]]:
    """Metric and column of the panels of each figure, which is not drawn, of the runs of Gibbs sampling."""
    found: list[list[tuple[str, str]]] = []

    def keep(shape: TableShape, _results: Results, _folder: Path) -> list[Path]:
        found.extend([(str(each.metric), *each.columns) for each in one.panels] for one in shape.figures)
        return []

    monkeypatch.setattr(selection_table, "write_figures", keep)
    table.render_runs(["sampler=gibbs", f"output_root={store}"], sort=sort)
    return found


@pytest.mark.slow
def test_parquet_holds_what_the_csv_does(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    folder = table.render_runs(["sampler=dmala", f"output_root={store}"])
    frame = pd.read_parquet(folder / "table.parquet")
    pd.testing.assert_frame_equal(frame, pd.read_csv(folder / "table.csv"), check_dtype=False)
    assert {"table.csv", "table.parquet"} <= set(json.loads((folder / "digests.json").read_text())["files"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    table.render_runs(["sampler=dmala", f"output_root={store}"])
    assert not (folder / "table.parquet").exists()


def test_statuses_of_a_selection(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status.main(["runs", "sampler=dmala", f"output_root={store}"]) == 0
    cells = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    rows = [tuple(text.strip() for text in line) for line in cells]
    assert rows == [
        ("dmala, step_size=0.5", "bernoulli4, steps=20", "3"),
        ("dmala, step_size=2", "bernoulli4, steps=20", "3"),
        ("dmala, step_size=auto", "bernoulli4, steps=20", "3"),
        ("dmala, step_size=auto", "bernoulli4, steps=40", "3"),
        ("all", "", "12"),
    ]


def test_lines_are_drawn_over_a_setting_with_three_numbers(tmp_path: Path) -> None:
    finished(tmp_path, *GRID, "sampler=dmala", "sampler.step_size=0.5,1,2", "task.steps=5", "seed=0")
    folder = table.render_runs([f"output_root={tmp_path}"])
    assert (folder / "lines.png").is_file()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (
            ("sampler=gwg",),
            "error: None of the 18 runs under {store} fits sampler=gwg: sampler is dmala, gibbs.",
        ),
        (
            ("sampler.step_size=3",),
            "error: None of the 18 runs under {store} fits sampler.step_size=3: sampler.step_size is 0.5, 2, "
            "auto in 12 runs, and not set in 6, where a default may hold.",
        ),
        (
            ("sampler=gibbs", "task.steps=40", "sampler.step_size=2"),
            "error: None of the 18 runs under {store} fits sampler=gibbs task.steps=40 sampler.step_size=2.",
        ),
        (("--sort", "kll"), "error: Unknown metric 'kll'; did you mean 'kl'?"),
        (("output_root=elsewhere",), "error: There are no runs under output_root=elsewhere."),
    ],
)
def test_a_selection_of_nothing_is_one_sentence(
    argv: tuple[str, ...], said: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.main(["runs", f"output_root={store}", *argv]) == 2
    assert capsys.readouterr().err.startswith(said.format(store=store))


def test_flags_of_runs_are_refused_for_an_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main(["pt_table1", "--sort", "kl"]) == 2
    assert "--sort and --all are for runs" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--record", "--extend", "--redraw"])
def test_flags_of_experiments_are_refused_for_runs(
    flag: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.main(["runs", f"output_root={store}", flag]) == 2
    assert "--record, --extend and --redraw are for experiments" in capsys.readouterr().err


def test_runs_that_measured_nothing_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = finished(tmp_path, *GRID, "sampler=gibbs", "task.steps=20")
    for summary in root.glob("runs/*/summary.json"):
        summary.unlink()
    assert table.main(["runs", f"output_root={root}"]) == 2
    assert "no run that fits has measured anything (" in capsys.readouterr().err
    assert not (root / "tables").exists()


def test_draws_that_no_sampler_made_do_not_compete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = finished(tmp_path, *GRID, "sampler=gibbs,random_walk,exact_draws,uniform_draws", "task.steps=20")
    grid, summary = show_runs(stored_runs(root), "all")
    assert {row.row: row.role.value for row in grid.shape.rows} == {
        "exact_draws": "draws", "gibbs": "sampler", "random_walk": "sampler", "uniform_draws": "draws",
    }  # fmt: skip
    assert {entry.row for entry in summary if entry.best} <= {"gibbs", "random_walk"}
    assert "uniform_draws†" not in capsys.readouterr().out


def test_a_setting_that_a_sampler_lacks_is_no_value_of_it(store: Path) -> None:
    grid = grid_of(stored_runs(store), "all")
    assert grid.row_settings["gibbs"]["sampler.step_size"] == ""


def test_a_grid_makes_one_configuration_for_all_seeds_of_a_place(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one for each run, the table of 3,000 runs took a minute more."""
    made: list[Any] = []
    create = OmegaConf.create

    def counted(content: Any) -> Any:
        made.append(content)
        return create(content)

    monkeypatch.setattr("runner.report.selection.grid.OmegaConf.create", counted)
    runs = stored_runs(store)
    places = places_of(runs)
    made.clear()
    grid_of(runs, "all")
    assert len(made) == len(set(places.labels)) == len(runs) / 3


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("sampler.kernel._target_", "samplers.continuous.ula.ULA"),
        ("target.training.sampler._target_", "samplers.discrete.gibbs.Gibbs"),
    ],
)
def test_another_kernel_of_ours_is_another_row(key: str, other: str) -> None:
    """Runs of MALA and of ULA, which is not exact, were averaged."""
    given = ["target=gaussian_mixture", "sampler=reld"] if key.startswith("sampler") else ["target=rbm"]
    composed = [compose(given), compose([*given, f"{key}={other}"])]
    usual, changed = (flat_settings(OmegaConf.to_container(each)) for each in composed)  # type: ignore[arg-type]
    assert varied_keys([usual, changed]) == [key]
    assert changed[key] == other.rsplit(".", 1)[-1]
    assert as_named(other, key, changed) == changed[key], "a condition is written as the override was"


def test_sorting_by_a_metric_without_a_direction_shows_it() -> None:
    metrics = [MetricShape("kl", "KL", Direction.min), MetricShape("acceptance", "A", Direction.none)]
    grid = cast(Grid, SimpleNamespace(shape=SimpleNamespace(metrics=metrics)))
    for sort, shown in ((None, ["kl"]), ("acceptance", ["acceptance", "kl"]), ("kl", ["kl"])):
        assert [metric.metric for metric in grid_lines._metrics(grid, sort, everything=False)] == shown


def test_a_metric_of_ours_and_one_of_the_users_own_share_no_line() -> None:
    """A line averaged runs of both; runs of other metrics may share one."""
    given = ["target=bernoulli4", "sampler=gibbs"]
    own = [*given, "metric=tv", "metric.tv._target_=mine.TV"]
    composed = [compose(lines) for lines in ([*given, "metric=tv"], [*given, "metric=kl"], own)]
    configs: list[Any] = [OmegaConf.to_container(each) for each in composed]
    runs = [SimpleNamespace(config=each, settings=flat_settings(each)) for each in configs]
    places = places_of(cast(Any, runs))
    assert places.keys == ["metric.tv._target_"]
    ours, other, theirs = places.labels
    assert ours == other == ("gibbs", "bernoulli4")
    assert theirs == ("gibbs", "bernoulli4, tv._target_=mine.TV")
    assert places_of(cast(Any, runs[1:])).keys == []


def test_sorted_lines_of_samplers_that_are_not_exact_follow_the_exact_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are compared with the best and never it, and stood above the row that is marked as the best."""
    samplers = "sampler=gibbs,dmala,dula,exact_draws"
    finished(tmp_path, "-m", "target=bernoulli4", samplers, "metric=jump", "task.steps=40")
    for sort, order in {
        "jump": ["dmala", "gibbs", "dula†", "exact_draws"],
        "evaluations": ["exact_draws", "dmala", "dula†", "gibbs"],
    }.items():
        capsys.readouterr()
        assert table.main(["runs", f"output_root={tmp_path}", "--sort", sort]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert [line[0] for line in lines[2:6]] == order
