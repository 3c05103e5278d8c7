"""Experiments in files of the user's: what is wrong in a file or in its sweep is refused with its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from runner.config.experiments.changing_overrides import changing_overrides
from runner.config.experiments.override_meaning import written as as_override
from runner.execution.errors import UserError
from runner.report.experiment_shape import experiment_shape
from runner.report.runs.job_places import placed_runs
from runner.sweep.jobs import Job, experiment_jobs, jobs_of, requested
from tests.support.commands import Call, refused

ROWS = "rows: [{row: a, sampler: gibbs}]"

MISTAKES = [
    (
        f"{{{ROWS}, seeds: {{smok: 2}}}}",
        "sweep.seeds of the experiment mine has the unknown scale 'smok'; did you mean 'smoke'?",
    ),
    (
        f"{{{ROWS}, scales: {{quik: {{task.chains: 2}}}}}}",
        "sweep.scales of the experiment mine has the unknown scale 'quik'; did you mean 'quick'?",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, seeds: {large: 2}}]}",
        "sweep.rows.0.seeds of the experiment mine has the unknown scale 'large'. Allowed: paper",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smok: {task.chains: 2}}}]}",
        "sweep.rows.0.scales of the experiment mine has the unknown scale 'smok'; did you mean 'smoke'?",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smoke: {target: []}}}]}",
        "sweep.rows.0.scales.smoke.target of the experiment mine must be a value or a list of values, [] was",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smoke: 3}}]}",
        "sweep.rows.0.scales.smoke of the experiment mine must be a group of keys, 3 was given.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: [smoke]}]}",
        "sweep.rows.0.scales of the experiment mine must be a group of keys, ['smoke'] was given.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: []}]}",
        "sweep.rows.0.scales of the experiment mine must be a group of keys, [] was given.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smoke: {row: b}}}]}",
        "sweep.rows.0.scales.smoke of the experiment mine has row, which stands in the row alone.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smoke: {scale: quick}}}]}",
        "sweep.rows.0.scales.smoke of the experiment mine has scale, which a command chooses.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scale: quick}]}",
        "sweep.rows.0 of the experiment mine has scale, which a command chooses.",
    ),
    (
        "{rows: [{row: a, sampler: gibbs, scales: {smoke: {seeds: 3}}}]}",
        "sweep.rows.0.scales.smoke of the experiment mine has seeds, which stands in sweep.rows.0.seeds.smo",
    ),
    (
        f"{{{ROWS}, grid: {{target: []}}}}",
        "sweep.grid.target of the experiment mine must be a value or a list of values, [] was given.",
    ),
    (
        f"{{{ROWS}, overrides: {{metric: [tv, ess]}}}}",
        "sweep.overrides.metric of the experiment mine must be one value, ['tv', 'ess'] was given: quote a "
        'list that is one value, metric: "[tv,ess]", and put values that make a job each into sweep.grid',
    ),
    (
        "{rows: [{row: Off, sampler: gibbs}]}",
        "sweep.rows.0.row of the experiment mine must be a text (in quotes, if it is No, Off, Yes or On), Fa",
    ),
    (
        "{rows: [{row: a, sampler: []}]}",
        "sweep.rows.0.sampler of the experiment mine must be a value or a list of values, [] was given.",
    ),
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The file of the experiment `mine`."""
    path = tmp_path / "conf" / "experiment" / "mine.yaml"
    path.parent.mkdir(parents=True)
    GlobalHydra.instance().clear()
    return path


def jobs_of_mine(own: Path, *overrides: str) -> list[Job]:
    where = f"hydra.searchpath=[file://{own.parents[1]}]"
    return experiment_jobs("mine", [where, "target=bernoulli4", *overrides])


@pytest.mark.parametrize(("block", "sentence"), MISTAKES, ids=[block for block, _ in MISTAKES])
def test_a_sweep_with_a_mistake_is_refused(call: Call, own: Path, block: str, sentence: str) -> None:
    own.write_text(f"# @package _global_\nexperiment: mine\nsweep: {block}\n")
    assert sentence in refused(call, "--config-dir conf -m +experiment=mine scale=smoke")


def test_a_scale_of_the_users_has_seeds(own: Path) -> None:
    own.write_text(f"# @package _global_\nexperiment: mine\nsweep: {{{ROWS}, seeds: {{tiny: 3, own: 4}}}}\n")
    scales = own.parents[1] / "scale"
    scales.mkdir()
    (scales / "tiny.yaml").write_text("defaults: [smoke]\nname: tiny\n")
    with pytest.raises(UserError, match=r"unknown scale 'own'\. Allowed: paper, quick, smoke, tiny\."):
        jobs_of_mine(own)
    own.write_text(own.read_text() + "scale: {name: own}\n")
    GlobalHydra.instance().clear()
    assert [list(job.run_ids) for job in jobs_of_mine(own, "scale=tiny")] == [[0, 1, 2]]
    assert [list(job.run_ids) for job in jobs_of_mine(own)] == [[0, 1, 2, 3]]


def test_a_file_without_its_name_is_refused(call: Call, own: Path) -> None:
    own.write_text(f"# @package _global_\nsweep: {{{ROWS}}}\n")
    said = refused(call, "--config-dir conf -m +experiment=mine scale=smoke")
    assert said == "error: The experiment mine needs the key experiment: mine, by which its runs are found.\n"


def test_a_preset_without_rows_needs_no_name(call: Call, own: Path) -> None:
    own.write_text("# @package _global_\nsweep: {seeds_per_job: 2}\ntask: {steps: 5, chains: 2}\n")
    few = ("--config-dir", "conf", "target=bernoulli4", "metric=tv", "sampler=gibbs")
    assert call(*few, "+experiment=mine").status == 0


def test_one_run_is_none_of_the_experiments(call: Call, own: Path) -> None:
    """Its settings are those of no row, and whoever reads the runs of the experiment got it, too."""
    own.write_text(f"# @package _global_\nexperiment: mine\nsweep: {{{ROWS}}}\n")
    few = ("--config-dir", "conf", "target=bernoulli4", "metric=tv", "task.steps=5", "task.chains=2")
    assert call(*few, "+experiment=mine", "sampler=dmala", "sampler.step_size=1.0").status == 0
    (path,) = Path("outputs/runs").glob("*/config.yaml")
    assert "experiment: null\n" in path.read_text()
    shutil.rmtree("outputs")
    (job,) = jobs_of_mine(own, "metric=tv", "task.steps=5", "task.chains=2", "seed=0")
    assert call(*few, *job.overrides).status == 0, "what repeats a failed job"
    (path,) = Path("outputs/runs").glob("*/config.yaml")
    assert path.parent.name in job.run_ids.values()
    assert "experiment: mine\n" in path.read_text()


@pytest.mark.parametrize("experiment", ["edlp_table1", "field_optimisation", "pt_figure5", "reld_theorem1"])
def test_the_command_that_repeats_a_job_is_accepted(experiment: str) -> None:
    """It has all keys of the sweep, of which some rows do not read some."""
    for job in experiment_jobs(experiment, ["scale=smoke"])[:6]:
        (same,) = jobs_of(requested(job.overrides, multirun=False))
        assert same.run_ids == job.run_ids


def test_another_value_that_the_job_does_not_read_is_refused() -> None:
    """Only what the sweep itself says is passed over."""
    (job,) = experiment_jobs("pt_figure5", ["scale=smoke"])
    other = [line.replace("task.tune_every=null", "task.tune_every=7") for line in job.overrides]
    assert other != list(job.overrides)
    with pytest.raises(UserError, match=r"task\.tune_every must be left out"):
        jobs_of(requested(other, multirun=False))


def test_a_file_without_its_first_line_is_refused(call: Call, own: Path) -> None:
    own.write_text(f"sweep: {{{ROWS}}}\ntable: {{title: T}}\n")
    sentence = "The experiment mine needs the line '# @package _global_' at the top of its file."
    assert sentence in refused(call, "--config-dir conf -m +experiment=mine")
    with pytest.raises(UserError, match=sentence):
        experiment_shape("mine", [f"hydra.searchpath=[file://{own.parents[1]}]"])


def test_an_experiment_with_the_name_of_another_is_refused(call: Call, own: Path) -> None:
    own.write_text(f"# @package _global_\nexperiment: other\nsweep: {{{ROWS}}}\n")
    sentence = (
        "The key experiment of the experiment mine must be mine, as its file is called, 'other' was given."
    )
    assert sentence in refused(call, "--config-dir conf -m +experiment=mine")


def written(own: Path, sweep: str, table: str = "") -> None:
    own.write_text(f"# @package _global_\nexperiment: mine\nsweep: {sweep}\n{table}")
    GlobalHydra.instance().clear()


def test_a_text_with_special_signs_is_one_value(own: Path, tmp_path: Path) -> None:
    texts = [str(tmp_path / name) for name in ("a, b.txt", "range(0,3)", "plain.txt", "c (d).txt")]
    for place, text in enumerate(texts):
        Path(text).write_text(f"{'abcd' * (50 + place)}\n")
    grid = f"{{target.text: {texts}, task.record: [0]}}"
    written(own, f"{{{ROWS}, grid: {grid}, overrides: {{target: ngram, metric: [[ess, acceptance]]}}}}")
    jobs = jobs_of_mine(own, "scale=smoke", "target=ngram")
    assert [job.config.target.text for job in jobs] == [job.cell["target.text"] for job in jobs] == texts


def test_a_text_in_a_list_stays_one_value() -> None:
    assert as_override(["a, b", "c", 1e-5, None, True]) == '["a, b",c,1e-05,null,true]'
    assert as_override({"x": "${task.steps}", "y": "[1,2]"}) == "{x:${task.steps},y:[1,2]}"


TABLE = """
table:
  title: T
  caption: C
  rows: [{row: PT}]
  columns:
    - {label: A, where: {sampler.swap: {pairing: sequential}}}
    - {label: B, where: {sampler.swap: {pairing: stochastic}}}
  metrics: [{metric: tv, name: TV, direction: min}]
"""


def test_a_grid_over_groups_of_keys_fits_the_columns_that_name_them(own: Path) -> None:
    grid = "{sampler.swap: [{pairing: sequential}, {pairing: stochastic}]}"
    rows = "[{row: PT, sampler: pt_dmala, sampler.ladder: [[1, 0.5]], sampler.step_size: 0.4}]"
    written(own, f"{{grid: {grid}, rows: {rows}, overrides: {{metric: [[tv]]}}}}", TABLE)
    jobs = jobs_of_mine(own, "scale=smoke", "seed=0")
    assert [job.cell for job in jobs] == [
        {"sampler.swap": {"pairing": "sequential"}},
        {"sampler.swap": {"pairing": "stochastic"}},
    ]
    shape = experiment_shape("mine", [f"hydra.searchpath=[file://{own.parents[1]}]"])
    assert [run.column for run in placed_runs("mine", shape, jobs)] == ["A", "B"]


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ("sampler.step_size=0.40", ["a"]),
        ("sampler.step_size=4e-1,1.0", ["a", "b"]),
        ("sampler.ladder=[1, 0.5]", ["a"]),
        ("sampler='pt_dmala'", ["a", "b"]),
        ("++sampler.step_size=1", ["b"]),
    ],
)
def test_rows_are_chosen_by_value_not_by_how_it_is_written(own: Path, given: str, rows: list[str]) -> None:
    a = "{row: a, sampler: pt_dmala, sampler.ladder: [[1,0.5]], sampler.step_size: 0.4}"
    b = "{row: b, sampler: pt_dmala, sampler.ladder: [[1,0.25]], sampler.step_size: 1}"
    written(own, f"{{rows: [{a}, {b}], overrides: {{metric: [[tv]]}}}}")
    where = f"hydra.searchpath=[file://{own.parents[1]}]"
    mine = ["target=bernoulli4", "scale=smoke", "seed=0"]
    jobs = jobs_of_mine(own, *mine[1:], given)
    assert [job.row for job in jobs] == rows
    every = {job.row: job.run_ids for job in jobs_of_mine(own, *mine[1:])}
    assert all(every[job.row] == job.run_ids for job in jobs)
    assert changing_overrides("mine", [where, *mine, given]) == ["target=bernoulli4"]


OWN_VALUES = """{
  grid: {target.size: [3, 4]},
  rows: [
    {row: plain, sampler: gibbs},
    {row: far, sampler: gibbs, task.start: random, target.size: 5,
     scales: {quick: {target.size: [4, 6]}, paper: {target.size: [6, 7], task.chains: 9}}}],
  scales: {paper: {target.size: [2, 3], task.chains: 8}},
  overrides: {target: ising, metric: "[ess]"}}"""
"""A sweep with a row that has its own values of the grid, other ones at other scales."""


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ("scale=smoke", {"plain": [3, 4], "far": [5]}),
        ("scale=quick", {"plain": [3, 4], "far": [4, 6]}),
        ("scale=paper", {"plain": [2, 3], "far": [6, 7]}),
        ("scale=smoke,quick", {"plain": [3, 4, 3, 4], "far": [5, 4, 6]}),
        ("scale=quick target.size=4", {"plain": [4], "far": [4]}),
        ("scale=quick target.size=4,9", {"plain": [4, 9], "far": [4]}),
        ("scale=quick target.size=9", {"plain": [9]}),
        ("scale=quick ++target.size=6", {"plain": [6], "far": [6]}),
        ("scale=quick target.size=6 row=far", {"far": [6]}),
        ("scale=quick target.size=6 task.start=random", {"far": [6]}),
        ("scale=smoke,quick task.start=random", {"far": [5, 4, 6]}),
        ("scale=smoke,quick target.size=4", {"plain": [4, 4], "far": [4]}),
        ("scale=smoke,paper target.size=9", {"plain": [9, 9]}),
    ],
)
def test_a_row_may_have_its_own_values_of_the_grid(
    own: Path, given: str, sizes: dict[str, list[int]]
) -> None:
    """A user's value replaces the grid's, and chooses among those of the row."""
    written(own, OWN_VALUES)
    where = f"hydra.searchpath=[file://{own.parents[1]}]"
    found: dict[str, list[int]] = {}
    chains = {"plain": 8, "far": 9}
    for job in experiment_jobs("mine", [where, *given.split()]):
        found.setdefault(job.row, []).append(job.config.target.size)
        assert job.cell == {"target.size": job.config.target.size}
        if job.config.scale.name == "paper":
            assert job.config.task.chains == chains[job.row]
    assert found == sizes


@pytest.mark.parametrize("scales", ["paper", "quick,paper", "paper,quick"])
def test_a_users_value_replaces_what_the_sweep_sets_for_all_in_every_row(own: Path, scales: str) -> None:
    """At the scale at which a row and the sweep set it, and at another, at which neither does."""
    written(own, OWN_VALUES)
    where = f"hydra.searchpath=[file://{own.parents[1]}]"
    jobs = experiment_jobs("mine", [where, f"scale={scales}", "task.chains=7"])
    found = {(job.row, job.config.scale.name, job.config.task.chains) for job in jobs}
    assert found == {(row, scale, 7) for row in ("plain", "far") for scale in scales.split(",")}


def test_a_value_of_the_grid_that_no_row_has_is_refused_where_all_have_their_own(own: Path) -> None:
    written(own, OWN_VALUES)
    where = f"hydra.searchpath=[file://{own.parents[1]}]"
    sentence = r"The chosen rows of the experiment mine have no target\.size=3; allowed: 4, 6\."
    with pytest.raises(UserError, match=sentence):
        experiment_jobs("mine", [where, "scale=quick", "row=far", "target.size=3"])
