"""What the tasks say of a budget: one of a thing has no plural."""

from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from runner.config.compose import compose
from runner.tasks.task import spanned, task_of

LEARN = {
    "_target_": "runner.tasks.learn_task.Learn",
    "method": "pcd", "cd_steps": 1, "iterations": 1, "batch": 100, "chains": 1, "buffer": 1,
    "ais": {"temperatures": 2000, "chains": 1, "schedule": "linear", "repeats": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "said"),
    [([1, 1], "1 chain"), ([0], "0 chains"), ([2000], "2,000 chains"), ([1, 5], "1 to 5 chains")],
)
def test_a_number_and_what_it_counts(values: list[int], said: str) -> None:
    assert spanned(values, "chain") == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["task.chains=1", "task.steps=1", "task.burn_in=0"],
            "1 chain, 1 step of which 0 are burn-in, start: random",
        ),
        (
            ["task=autoencode", "task.samples=1", "task.chains=1", "task.thinning=1", "task.burn_in=2"],
            "1 image of 1 chain, one every step after 2 of burn-in, start: ",
        ),
        (
            ["task=autoencode", "task.samples=10", "task.chains=5", "task.thinning=12", "task.burn_in=2"],
            "10 images of 5 chains, one every 12 steps after 2 of burn-in, start: ",
        ),
        (["task=log_partition", "task.repeats=1", "task.chains=1"], "1 population of 1 chain"),
    ],
)
def test_a_budget_of_one_chain(words: list[str], said: str) -> None:
    task = OmegaConf.create({"task": compose(words).task})
    assert task_of(task).budget([task]).startswith(said)


def test_a_budget_of_learning_with_one_chain() -> None:
    config = OmegaConf.create(
        {"task": LEARN, "sampler": {"name": "dmala"}, "target": compose(["target=bernoulli4"]).target}
    )
    assert task_of(config).budget([config]) == (
        "PCD with 1 chain, 1 iteration of 1 step in batches of 100, chains taken from a buffer of 1 state; "
        "AIS with 2,000 temperatures and 1 chain, 1 time"
    )
