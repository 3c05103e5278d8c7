"""Sweeps that depend on the scale, and seeds that are jobs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs, jobs_of, requested
from runner.sweep.launchers.launcher import interleaved
from tests.support.commands import Call

EXPERIMENT = """# @package _global_
experiment: scaled
sweep:
  grid:
    target.components: [8, 16]
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: DMALA, sampler: dmala, sampler.step_size: 100}
  overrides: {target: mog, task.start: uniform, metric: "[jump]", task.steps: 30, task.chains: 3}
  scales:
    smoke: {target.components: [2], task.chains: 2}
    paper: {task.burn_in: [1, 2]}
  seeds: {smoke: 2, quick: 3}
"""


@pytest.fixture
def written(tmp_path: Path) -> str:
    """The override that makes the experiments `scaled` and `alone` known."""
    folder = tmp_path / "conf" / "experiment"
    folder.mkdir(parents=True)
    (folder / "scaled.yaml").write_text(EXPERIMENT)
    # Each seed has a target of its own: its number of components is the seed's.
    alone = EXPERIMENT.replace("target.components: [8, 16]", 'target.components: ["${seed}"]')
    alone = alone.replace("target.components: [2], ", "").replace("scaled", "alone")
    (folder / "alone.yaml").write_text(alone + "  one_job_per_seed: true\n")
    return f"hydra.searchpath=[file://{tmp_path}/conf]"


def points(jobs: list[Job]) -> list[tuple[str, int, int, list[int]]]:
    return [
        (job.row, job.config.target.components, job.config.task.chains, list(job.run_ids)) for job in jobs
    ]


def test_a_scale_changes_grid_overrides_and_seeds(written: str) -> None:
    assert points(experiment_jobs("scaled", [written, "scale=smoke"])) == [
        ("Gibbs", 2, 2, [0, 1]),
        ("DMALA", 2, 2, [0, 1]),
    ]
    quick = experiment_jobs("scaled", [written])
    assert points(quick)[:2] == [("Gibbs", 8, 3, [0, 1, 2]), ("Gibbs", 16, 3, [0, 1, 2])]
    assert {job.config.scale.name for job in quick} == {"quick"}
    assert quick[1].cell == {"target.components": 16}


def test_a_list_that_a_scale_adds_joins_the_grid(written: str) -> None:
    """The scale `paper` has no seeds of its own here, so that those of conf/scale count."""
    jobs = experiment_jobs("scaled", [written, "scale=paper", "sampler=gibbs"])
    assert [(job.cell["target.components"], job.cell["task.burn_in"]) for job in jobs] == [
        (8, 1), (8, 2), (16, 1), (16, 2),
    ]  # fmt: skip
    assert {tuple(job.run_ids) for job in jobs} == {tuple(range(10))}


def test_a_row_may_have_seeds_of_its_own_at_a_scale(written: str, tmp_path: Path) -> None:
    path = tmp_path / "conf" / "experiment" / "scaled.yaml"
    path.write_text(EXPERIMENT.replace("sampler: gibbs}", "sampler: gibbs, seeds: {quick: 5}}"))
    found = [(job.row, len(job.run_ids)) for job in experiment_jobs("scaled", [written])]
    assert found == [("Gibbs", 5), ("Gibbs", 5), ("DMALA", 3), ("DMALA", 3)]
    smoke = experiment_jobs("scaled", [written, "scale=smoke"])
    assert [len(job.run_ids) for job in smoke] == [2, 2]
    given = experiment_jobs("scaled", [written, "seed=7"])
    assert {tuple(job.run_ids) for job in given} == {(7,)}


def test_several_scales_have_each_their_own(written: str) -> None:
    jobs = experiment_jobs("scaled", [written, "scale=smoke,quick", "sampler=gibbs"])
    assert [(job.config.scale.name, job.config.target.components) for job in jobs] == [
        ("smoke", 2), ("quick", 8), ("quick", 16),
    ]  # fmt: skip


def test_what_the_user_gives_counts_at_every_scale(written: str) -> None:
    given = [written, "scale=smoke", "target.components=4", "task.chains=5", "seed=7", "sampler=gibbs"]
    assert points(experiment_jobs("scaled", given)) == [("Gibbs", 4, 5, [7])]


def test_jobs_that_share_a_target_and_a_sampler_are_apart(written: str) -> None:
    jobs = experiment_jobs("scaled", [written, "task.chains=5,6,7", "target.components=8,16"])
    rows, chains, sizes = ("Gibbs", "DMALA"), (5, 6, 7), (8, 16)

    def points_of(jobs: list[Job]) -> list[tuple[str, int, int]]:
        return [(job.row, job.config.task.chains, job.config.target.components) for job in jobs]

    assert points_of(jobs) == [(row, count, size) for row in rows for count in chains for size in sizes]
    assert points_of(interleaved(jobs)) == [
        (row, count, size) for count in chains for row in rows for size in sizes
    ]


def test_a_target_of_each_seed_is_another_one(written: str) -> None:
    jobs = experiment_jobs("alone", [written, "sampler=gibbs", "seed=3,4", "task.chains=5,6"])
    assert [(job.config.seed, job.config.task.chains) for job in interleaved(jobs)] == [
        (3, 5), (4, 5), (3, 6), (4, 6),
    ]  # fmt: skip


@pytest.mark.parametrize("given", ["seed=[3,4]", "seed=3,4", "seed=range(3,5)"])
def test_one_job_per_seed(written: str, given: str) -> None:
    jobs = experiment_jobs("alone", [written, "sampler=gibbs", given])
    assert points(jobs) == [("Gibbs", 3, 3, [3]), ("Gibbs", 4, 3, [4])]
    assert [job.config.seed for job in jobs] == [3, 4]


@pytest.mark.parametrize(
    ("size", "seeds"),
    [("1", [[0], [1], [2]]), ("2", [[0, 1], [2]]), ("3", [[0, 1, 2]]), ("null", [[0, 1, 2]])],
)
def test_a_job_has_so_many_seeds_and_its_runs_keep_their_ids(
    written: str, size: str, seeds: list[list[int]]
) -> None:
    argv = [written, "sampler=gibbs", "target.components=8"]
    (whole,) = experiment_jobs("scaled", argv)
    jobs = experiment_jobs("scaled", [*argv, f"sweep.seeds_per_job={size}"])
    assert [list(job.run_ids) for job in jobs] == seeds
    assert {seed: run_id for job in jobs for seed, run_id in job.run_ids.items()} == whole.run_ids
    for job in jobs:  # as a launcher's process composes it
        (again,) = jobs_of(requested([written, *job.overrides], multirun=False))
        assert again.run_ids == job.run_ids


@pytest.mark.parametrize("given", ["seed=[4]", "++seed=[4]"])
def test_one_seed_in_a_list_is_a_seed(written: str, given: str) -> None:
    """Values that are made of it are of the seed; nothing is made of a list."""
    one, alike = (experiment_jobs("alone", [written, "sampler=gibbs", each]) for each in ("seed=4", given))
    assert [job.config.target.components for job in alike] == [4]
    assert [job.run_ids for job in alike] == [job.run_ids for job in one]
    lines = ["target=mog", "target.components=${seed}", "sampler=gibbs", given]
    (single,) = jobs_of(requested(lines, multirun=False))
    assert single.config.target.components == 4


def test_a_command_without_m_keeps_its_seeds_together() -> None:
    lines = ["target=mog", "sampler=gibbs", "++seed=[0,1,2]", "sweep.seeds_per_job=2"]
    assert [len(jobs_of(requested(lines, multirun=multirun))) for multirun in (False, True)] == [1, 2]


def test_a_sweep_goes_on_with_other_numbers_of_seeds_a_job(call: Call, written: str) -> None:
    argv = ("-m", "+experiment=scaled", written, "scale=smoke", "sampler=gibbs")
    assert call(*argv, "seed=0,1", "sweep.seeds_per_job=1").out == "2 runs done.\n"
    assert call(*argv, "seed=0,1,2", "sweep.seeds_per_job=2").out == "1 run done, 2 skipped (done before).\n"
    assert call(*argv, "seed=0,1,2").out == "0 runs done, 3 skipped (done before).\n"


def test_values_of_the_seed_need_no_m(call: Call) -> None:
    """Two seeds are two jobs there; one was expected, which ended in a traceback."""
    ended = call("target=mog", "target.components=${seed}", "sampler=gibbs", "seed=[2,4]", "task.steps=20")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.endswith("2 runs done.\n")


def test_an_interpolation_over_seeds_is_the_run_that_a_hand_would_write(written: str) -> None:
    """The overrides go to the launcher as they are: composed anew they are the same run."""
    for job in experiment_jobs("alone", [written, "scale=smoke", "sampler=gibbs", "seed=[2,4]"]):
        (seed,) = job.run_ids
        base = ["target=mog", "sampler=gibbs", "metric=[jump]", "scale=smoke", "task.start=uniform"]
        base += ["task.steps=30", "task.chains=2", f"seed={seed}"]
        (by_hand,) = jobs_of(requested([*base, f"target.components={seed}"], multirun=False))
        assert by_hand.run_ids == job.run_ids
        assert "target.components=${seed}" in job.overrides
        (again,) = jobs_of(requested([written, *job.overrides], multirun=False))
        assert again.run_ids == job.run_ids


def test_one_job_per_seed_runs_and_is_skipped_when_repeated(call: Call, written: str) -> None:
    argv = ("-m", "+experiment=alone", written, "scale=smoke", "seed=2,4")
    ended = call(*argv)
    assert (ended.status, ended.out) == (0, "4 runs done.\n"), ended.err
    kept = {path.parent.name: path.read_text() for path in Path("outputs/runs").glob("*/config.yaml")}
    assert sorted(text.count("components: 2") for text in kept.values()) == [0, 0, 1, 1]
    assert not any("${" in text for text in kept.values())
    assert all(Store("outputs").run(name).summary() for name in kept)
    assert call(*argv).out == "0 runs done, 4 skipped (done before).\n"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (("seeds: {smoke: 2,", "seeds: {smoke: 0,"), r"sweep\.seeds\.smoke .* must be .* 0 was given"),
        (
            ("sampler: gibbs}", "sampler: gibbs, seeds: {paper: many}}"),
            r"sweep\.rows\.0\.seeds\.paper .* must be .* 'many' was given",
        ),
        (("sampler: gibbs}", "sampler: gibbs, seeds: 5}"), r"sweep\.rows\.0\.seeds .* group of keys, 5"),
        (("sampler: gibbs}", "sampler: gibbs, seeds: 0}"), r"sweep\.rows\.0\.seeds .* group of keys, 0"),
        (("  scales:\n", "  scale:\n"), r"has sweep\.scale; a sweep has"),
        (("  scales:\n", "  seeds_apart: true\n  scales:\n"), r"is now called one_job_per_seed\."),
    ],
)
def test_a_sweep_with_a_mistake_is_refused(
    written: str, tmp_path: Path, edit: tuple[str, str], sentence: str
) -> None:
    assert edit[0] in EXPERIMENT
    path = tmp_path / "conf" / "experiment" / "wrong.yaml"
    path.write_text(EXPERIMENT.replace(*edit).replace("experiment: scaled", "experiment: wrong"))
    with pytest.raises(UserError, match=sentence) as error:
        experiment_jobs("wrong", [written, "scale=smoke"])
    assert "\n" not in str(error.value)
