"""Experiments in files of the user's: what is wrong in a file or in its sweep is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from runner.execution.errors import UserError
from runner.report.experiment_shape import experiment_shape
from runner.sweep.jobs import Job, experiment_jobs
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
        f"{{{ROWS}, grid: {{target: []}}}}",
        "sweep.grid.target of the experiment mine must be a value or a list of values, [] was given.",
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
    own.write_text(f"# @package _global_\nsweep: {{{ROWS}}}\n")
    GlobalHydra.instance().clear()
    assert len(jobs_of_mine(own)) == 1  # its runs have no label
