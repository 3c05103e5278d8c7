"""Runs of targets with matrix products: seeds share a batch, and have the numbers that they have alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from metrics.library.thread_count import thread_count
from runner.config.compose import compose
from runner.execution import signals
from runner.execution.compiling import seed_batch
from runner.problem.build import build
from runner.sweep.jobs import jobs_of, requested
from runner.tasks import sampled_runs
from runner.tasks.sample import Sampling, begin
from runner.tasks.sampled_runs import SampledRuns
from samplers import Info, State
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
    return SampledRuns(build(compose([*overrides])), None).together([0, 1])


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


def test_seeds_of_compiled_steps_share_a_batch_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("sampler=gibbs", "compile=true", "task.chains=100")
    found: list[bool | Exception] = [True, False, RuntimeError("in the trial")]

    def has_own_bits(begun: object, seeds: Sequence[int]) -> bool:
        if isinstance(answer := found.pop(0), Exception):
            raise answer
        return answer

    monkeypatch.setattr(sampled_runs, "has_own_bits", has_own_bits)
    with thread_count(1):
        for wanted in (True, False, False):
            assert together("target=mog", *asked, "task.steps=200000") is wanted
        assert not together("target=mog", *asked, "task.steps=199999")
        assert not together("target=mog", *asked, "task.steps=200000", "threads=2")
        assert not together("target=ising", *asked, "task.steps=200000")  # 400 KB a seed


class Walk:
    """Steps that count, with bits of a batch that are another's for one seed; a `seed_batch.Steps`."""

    compiled, total = True, 10_000

    def __init__(self, seeds: Sequence[int], other: int | None, from_step: int = 0) -> None:
        self.seeds, self.other, self.from_step, self.count = seeds, other, from_step, 0
        self.state = State(torch.zeros((len(seeds), 3, 1)), torch.zeros((len(seeds), 3)))
        self.stepper: Any = self

    def __call__(self, state: State) -> tuple[State, Info]:
        theta = state.theta + torch.tensor([float(seed) for seed in self.seeds]).reshape(-1, 1, 1)
        self.count += 1
        if len(self.seeds) > 1 and self.other in self.seeds and self.count > self.from_step:
            theta[self.seeds.index(self.other), -1] += 0.5
        acceptance = torch.ones(theta.shape[:2])
        return replace(state, theta=theta), Info(acceptance=acceptance, jump=acceptance, evaluations=1)


@pytest.mark.parametrize(
    ("other", "from_step", "same"),
    [(None, 0, True), (4, 0, False), (9, 200, False), (9, seed_batch.TRIED, True)],
)
def test_a_batch_is_tried_beside_its_first_and_its_last_seed(
    other: int | None, from_step: int, same: bool
) -> None:
    assert seed_batch.has_own_bits(lambda seeds: Walk(seeds, other, from_step), [4, 7, 9]) is same


def test_compiled_steps_are_tried_in_a_batch() -> None:
    config = compose(["target=bernoulli4", "sampler=dmala", "sampler.step_size=0.4", "compile=true"])
    problem = build(config).prepared()
    assert seed_batch.has_own_bits(partial(begin, problem), [0, 3, 1])


def test_a_configuration_with_values_of_the_seed_is_a_job_of_each_seed() -> None:
    """As where each seed has a model of its own; outside an experiment, too."""
    seeded = (*RBM, "sampler=rbm_gibbs", "target.model_seed=${seed}")
    for lines, multirun in (([*seeded, "seed=[3,5]"], False), ([*seeded, "seed=3,5"], True)):
        jobs = jobs_of(requested(lines, multirun=multirun))
        assert [job.config.target.model_seed for job in jobs] == [3, 5]
        assert [list(job.run_ids) for job in jobs] == [[3], [5]]
    together = jobs_of(requested([*RBM, "sampler=rbm_gibbs", "seed=[3,5]"], multirun=False))
    assert [list(job.run_ids) for job in together] == [[3, 5]]
