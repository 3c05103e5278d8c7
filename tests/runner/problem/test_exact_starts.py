"""``task.start=exact``: chains start at independent exact draws, and stay distributed as the target is."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from runner.config.compose import compose
from runner.execution.errors import UserError
from runner.problem.build import Problem, build
from runner.tasks.sample import begin

SMALL = ("task.chains=20000", "task.burn_in=0", "task.start=exact")
TARGETS = {
    "bernoulli4": (16, "sampler=dmala sampler.step_size=0.3"),
    "tsp target.cities=4": (24, "sampler=tour_swap"),
    "ising target.size=3 target.coupling=0.05": (512, "sampler=gwg"),
    "categorical target.d=2": (16, "sampler=gibbs"),
}


def problem(*overrides: str) -> Problem:
    return build(compose([*SMALL, *overrides]))


def p_value(found: Problem, theta: Tensor) -> float:
    """Of Pearson's test that the states are draws from the target, which has visited all of its states."""
    states, counts = theta.flatten(0, 1).unique(dim=0, return_counts=True)
    expected = found.target.log_prob(states).double().softmax(-1) * counts.sum()
    return float(chisquare(counts.double(), expected).pvalue)


def number_of_states(theta: Tensor) -> int:
    return len(theta.flatten(0, 1).unique(dim=0))


@pytest.mark.parametrize("target", TARGETS)
def test_chains_start_in_the_target_and_stay_there(target: str) -> None:
    """False alarm 1e-6 for each of two tests a target."""
    size, sampler = TARGETS[target]
    found = problem(*f"target={target} {sampler}".split(), "task.steps=10")
    run = begin(found, (3,))
    assert number_of_states(run.state.theta) == size
    assert p_value(found, run.state.theta) > 1e-6
    while not run.done:
        run.walk()
    assert p_value(found, run.state.theta) > 1e-6


def test_other_starts_are_not_draws_from_the_target() -> None:
    """The test above finds them."""
    found = problem("target=bernoulli4", "sampler=dmala", "task.steps=1", "task.start=uniform")
    assert p_value(found, begin(found, (3,)).state.theta) < 1e-6


def test_a_seed_starts_where_it_starts_alone_and_replicas_start_apart() -> None:
    found = problem("target=tsp", "sampler=pt_tour_swap", "sampler.ladder=[1,0.5]", "task.chains=50")
    together, alone = (found.start(found.kernel.axes, seeds) for seeds in ((4, 9), (9,)))
    assert together.shape == (2, 2, 50, *found.target.space.event_shape)
    assert torch.equal(together[:, 1], alone[:, 0])
    assert not torch.equal(together[0], together[1])


def test_a_target_without_exact_draws_is_refused() -> None:
    with pytest.raises(UserError) as error:
        problem("target=maxcut", "sampler=gibbs")
    assert str(error.value) == "task.start=exact needs a target that can be sampled exactly, MaxCut cannot."
