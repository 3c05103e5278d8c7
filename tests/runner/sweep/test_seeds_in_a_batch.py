"""Runs of targets with matrix products: seeds share a batch, and have the numbers that they have alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from runner.config.compose import compose
from runner.execution import signals
from runner.problem.build import build
from runner.sweep.jobs import jobs_of, requested
from runner.tasks.sample import Sampling
from runner.tasks.sampled_runs import SampledRuns
from tests.support.commands import Call, rows, rows_by_run, stop_after

# Seven chains: no multiple of what a processor takes at once.
COMMON = ("scale=smoke", "task.chains=7", "task.steps=30", "task.record=2")
RBM = ("target=rbm", "target.dataset=digits", "target.n_hidden=23", "scale.ground_truth_steps=20")
BNN = ("target=binary_bnn", "target.n_hidden=5", "metric=[predictive_rmse,flatness,best_log_prob]")
QUADRATIC = ("target=quadratic", "target.d=40", "dtype=float64")
METRICS = "metric=[standard,best_log_prob,energy,flatness]"
CASES = {
    "dmala": (*RBM, METRICS, "sampler=dmala", "sampler.step_size=0.2"),
    "rbm_gibbs": (*RBM, METRICS, "sampler=rbm_gibbs"),
    "pt_dmala": (*RBM, METRICS, "sampler=pt_dmala", "sampler.ladder=[1,0.8]", "sampler.step_size=0.2"),
    "two ground-truth sets": (*RBM, "sampler=ground_truth_draws"),
    "networks": (*BNN, "sampler=edmala", "sampler.step_size=0.1"),
    "quadratic": (*QUADRATIC, METRICS, "sampler=dmala", "sampler.step_size=0.2"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_seed_has_the_numbers_that_it_has_alone(call: Call, tmp_path: Path, name: str) -> None:
    found = []
    for seeds in ("[2,0,1]", "1"):
        root = tmp_path / f"of {len(seeds)}/outputs"
        for made in ("artefacts", "models"):  # the model and its reference sample, made by the first command
            if (tmp_path / "of 7/outputs" / made).exists():
                shutil.copytree(tmp_path / "of 7/outputs" / made, root / made)
        ended = call(*COMMON, *CASES[name], f"seed={seeds}", f"output_root={root}")
        assert ended.status == 0, ended.err
        runs = [json.loads(path.read_text()) for path in root.glob("runs/*/summary.json")]
        assert [run["batch"] for run in runs] == [len(runs)] * len(runs)
        found.append(rows_by_run(root))
    together, alone = found
    assert (len(together), len(alone)) == (3, 1)
    (run,) = alone
    assert together[run] == alone[run]


@pytest.mark.parametrize("name", ["rbm_gibbs", "networks"])
def test_a_batch_that_is_stopped_ends_like_one_that_is_not(
    call: Call, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    command = (*COMMON, *CASES[name], "seed=[0,1,2]", "checkpoint.steps=7")
    with monkeypatch.context() as patch:
        stop_after(patch, Sampling, 2)
        assert call(*command).status == 75
    assert len(list(Path("outputs").glob("runs/*/checkpoint.pt"))) == 1
    signals.forget()
    assert call(*command).status == 0
    assert call(*command, "output_root=whole").status == 0
    assert rows()
    assert rows() == rows("whole")


def together(*overrides: str) -> bool:
    return SampledRuns(build(compose([*overrides])), None).together


def test_seeds_share_a_batch_where_that_pays_and_their_bits_are_known() -> None:
    network = ("target=binary_bnn", "target.n_hidden=100", "sampler=dmala", "sampler.step_size=0.1")
    assert together(*network, "task.chains=20")  # 20 states of 3,201 numbers of 4 bytes
    assert not together(*network, "task.chains=50")
    assert not together(*network, "task.chains=20", "compile=true")
    tempered = ("target=quadratic", "sampler=pt_dmala", "sampler.ladder=[1,0.5,0.1,0]", "sampler.step_size=1")
    assert together(*tempered, "task.chains=2000")
    assert not together(*tempered, "task.chains=2100")
    mixture = ("target=gaussian_mixture", "sampler=random_walk", "sampler.step_size=1")
    assert together(*mixture)
    assert not together(*mixture, "target.covariance=[[1,0.5],[0.5,1]]")


def test_a_configuration_with_values_of_the_seed_is_a_job_of_each_seed() -> None:
    """As where each seed has a model of its own; outside an experiment, too."""
    seeded = (*RBM, "sampler=rbm_gibbs", "target.model_seed=${seed}")
    for lines, multirun in (([*seeded, "seed=[3,5]"], False), ([*seeded, "seed=3,5"], True)):
        jobs = jobs_of(requested(lines, multirun=multirun))
        assert [job.config.target.model_seed for job in jobs] == [3, 5]
        assert [list(job.run_ids) for job in jobs] == [[3], [5]]
    together = jobs_of(requested([*RBM, "sampler=rbm_gibbs", "seed=[3,5]"], multirun=False))
    assert [list(job.run_ids) for job in together] == [[3, 5]]
