"""A kernel that evaluates the target more often than it reports is refused, and no other."""

from __future__ import annotations

from typing import Any, Self

import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import Info, ParallelTempering, State
from samplers.choice import choose
from samplers.kernel import Kernel, evaluate
from samplers.trial.step_trial import try_step
from targets import Bernoulli4, LogQuadratic, Streams, Target
from targets.randomness import uniform


class Uncounted(Kernel):
    """A kernel that reports no evaluations; `ask` says what it does with the target."""

    def __init__(self, ask: str) -> None:
        self.ask = ask

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> tuple[State, Info]:
        flip = uniform(generator, state.log_prob.shape, (5,), like=state.theta) < 0.3
        proposed = torch.where(flip, 1.0 - state.theta, state.theta)
        jump, certain = flip.sum(-1).double(), torch.ones_like(state.log_prob)
        if self.ask == "log_prob":
            after = evaluate(target, proposed, gradient=False)
            ratio = after.log_prob - state.log_prob
            chance = uniform(generator, state.log_prob.shape, (), like=state.theta)
            after = choose(chance.log() < ratio, after, state)
            return after, Info((chance.log() < ratio).double(), jump, 0)  # 1 wherever it was accepted
        if self.ask == "log_prob_and_grad":
            return State(proposed, target.log_prob_and_grad(proposed)[0]), Info(certain, jump, 0)
        if self.ask == "probabilities":
            assert isinstance(target, Listed)
            target.probabilities()
        return evaluate(target, proposed, gradient=False), Info(certain, jump, 0)


class Listed(LogQuadratic):
    """A target that evaluates itself to list its probabilities."""

    def probabilities(self) -> Tensor:
        return self.log_prob(self.space.states().to(self.like())).softmax(0)


@pytest.mark.parametrize("ask", ["log_prob", "log_prob_and_grad"])
def test_evaluations_that_are_not_counted_are_refused(ask: str) -> None:
    said = rf"^Uncounted.step must count its evaluations .*, it called {ask} and counted 0$"
    with pytest.raises(ValueError, match=said):
        run_chains(Listed(d=5), Uncounted(ask), chains=2, steps=10)


@pytest.mark.parametrize("ask", ["nothing", "probabilities"])
def test_the_log_density_of_what_was_drawn_without_it_is_no_evaluation(ask: str) -> None:
    assert run_chains(Listed(d=5), Uncounted(ask), chains=2, steps=10).evaluations[-1] == 0


class Tries(Kernel):
    """A single-flip walk that evaluates its proposal `made` times, and `shared` states for all chains."""

    def __init__(self, made: int, reported: int, shared: int = 0) -> None:
        self.made, self.reported, self.shared = made, reported, shared

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> tuple[State, Info]:
        place, chance = uniform(generator, state.log_prob.shape, (2,), like=state.theta).unbind(-1)
        flip = torch.nn.functional.one_hot((place * target.space.d).long(), target.space.d).bool()
        proposed = torch.where(flip, 1.0 - state.theta, state.theta)
        if self.made > 1:
            target.log_prob(proposed.expand(self.made - 1, *proposed.shape))
        if self.shared:
            target.log_prob(proposed.new_zeros(self.shared, target.space.d))
        after = evaluate(target, proposed, gradient=False)
        acceptance = (beta * (after.log_prob - state.log_prob)).clamp(max=0.0).exp()
        moves = chance < acceptance
        return choose(moves, after, state), Info(acceptance, moves.to(acceptance), self.reported)


@pytest.mark.parametrize(("made", "reported"), [(4, 1), (4, 3), (2, 1)])
def test_fewer_evaluations_than_were_made_are_refused(made: int, reported: int) -> None:
    said = rf"^Tries.step must count all evaluations .* made {made} for each chain and counted {reported}$"
    with pytest.raises(ValueError, match=said):
        run_chains(Bernoulli4(), Tries(made, reported), chains=2, steps=10)


def test_inside_a_ladder_the_kernel_is_named() -> None:
    kernel, target = ParallelTempering(Tries(4, 1), [1.0, 0.5, 0.0]), Bernoulli4()
    theta = target.initial((3, 1, 2), Streams([0], "start"))
    said = r"^Tries.step must .* a step inside ParallelTempering made 12 for each chain and counted 3$"
    with pytest.raises(ValueError, match=said):
        try_step(kernel, target, theta, theta.new_ones(()))


class LooksUp(Tries):
    """Draws a bit from its conditional, at two evaluations, and looks up the density of its new state."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> tuple[State, Info]:
        chance = uniform(generator, state.log_prob.shape, like=state.theta)
        zero, one = (state.theta.clone().index_fill(-1, torch.tensor(0), bit) for bit in (0.0, 1.0))
        odds = target.log_prob(one) - target.log_prob(zero)
        theta = torch.where((chance < odds.sigmoid()).unsqueeze(-1), one, zero)
        jump, certain = (theta != state.theta).sum(-1).to(theta), torch.ones_like(state.log_prob)
        return evaluate(target, theta, gradient=False), Info(certain, jump, self.reported)


class NotCopied(LogQuadratic):
    """A target that cannot be copied, so that nothing can be put in its place."""

    def __copy__(self) -> Self:
        raise TypeError("no copies")


@pytest.mark.parametrize(
    ("target", "kernel"),
    [
        (Bernoulli4(), Tries(4, 4)),
        (Bernoulli4(), Tries(2, 3)),
        (Bernoulli4(), Tries(1, 1, shared=10)),
        (LogQuadratic(d=5), LooksUp(2, 2)),
        (NotCopied(d=5), Tries(4, 1)),
    ],
)
def test_what_was_counted_is_not_refused(target: Target, kernel: Tries) -> None:
    """Nor is what cannot be counted; ten states that all chains share are few for each of many chains."""
    found = run_chains(target, kernel, chains=2, steps=10)
    assert found.evaluations[-1] == 10 * kernel.reported
