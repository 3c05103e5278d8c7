"""Random numbers of a run: shared by seed among samplers, or its own with ``streams=independent``."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from runner.config.compose import compose
from runner.execution.errors import UserError
from runner.problem.build import build
from runner.tasks.run_identity import run_identity, run_ids
from runner.tasks.sample import begin

SMALL = ("target=bernoulli4", "task.chains=4000", "task.steps=20", "task.burn_in=0")
DMALA = (*SMALL, "sampler=dmala", "sampler.step_size=0.2")
LARGER = (*SMALL, "sampler=dmala", "sampler.step_size=0.4")
OWN = "streams=independent"


def walked(*overrides: str, seeds: tuple[int, ...] = (0,)) -> tuple[Tensor, Tensor]:
    """States of all chains at the start and after 20 steps, ``(seeds, chains, 4)``."""
    run = begin(build(compose([*overrides])), seeds)
    start = run.state.theta.clone()
    while not run.done:
        run.walk()
    return start, run.state.theta


def correlation(first: Tensor, second: Tensor) -> float:
    pair = torch.stack([first.sum(-1).flatten().double(), second.sum(-1).flatten().double()])
    return float(torch.corrcoef(pair)[0, 1])


def test_samplers_of_one_seed_share_their_random_numbers_unless_told_otherwise() -> None:
    """Correlations over 4,000 chains; 5 standard errors are 0.08, which chance exceeds 6 times in 1e7."""
    start, end = walked(*DMALA)
    other_start, other_end = walked(*LARGER)
    assert torch.equal(start, other_start)
    assert correlation(end - start, other_end - other_start) > 0.3
    own_start, own_end = walked(*DMALA, OWN)
    other_start, other_end = walked(*LARGER, OWN)
    for one, two in ((start, own_start), (own_start, other_start), (own_end, other_end)):
        assert abs(correlation(one, two)) < 0.08


def test_own_random_numbers_belong_to_target_sampler_and_seed_alone() -> None:
    _, end = walked(*DMALA, OWN, seeds=(0, 3))
    _, measured = walked(*DMALA, OWN, "metric=tv", "task.record=2", seeds=(3,))
    assert torch.equal(end[1:], measured)
    assert not torch.equal(end[:1], measured)


def test_only_a_choice_other_than_the_default_is_part_of_the_identity() -> None:
    plain, chosen = (run_identity(compose([*DMALA, *more]), "cpu") for more in ((), (OWN,)))
    assert "streams" not in plain
    assert chosen == {**plain, "streams": "independent"}
    assert run_ids(compose([*DMALA, "streams=shared"]), "cpu", [0]) == run_ids(compose([*DMALA]), "cpu", [0])


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ((*DMALA, "streams=own"), r"^streams must be shared or independent, 'own' was given\.$"),
        ((*DMALA, "streams=null"), r"^streams must be shared or independent, None was given\.$"),
        (
            ("target=bernoulli4", "sampler=gibbs", "task=spectral_gap", OWN),
            r"^streams=independent is for task=sample, task=spectral_gap was given\.$",
        ),
    ],
)
def test_other_choices_are_refused(overrides: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        run_ids(compose([*overrides]), "cpu", [0])
