"""Independent draws as kernels, for the reference rows of a table at the same number of draws.

`ExactDraws` says how well a perfect sampler would score, `UniformDraws` how well one that ignores the
target would. Neither is charged an evaluation: the log density is looked up only so that `State` holds
what it promises.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, NotEnumerableError, State, evaluate
from samplers.metropolis_hastings import jump_length
from targets.randomness import Generator
from targets.spaces import Discrete, discrete_space
from targets.target import Enumerable, ExactlySampled, Target


class ExactDraws(Kernel):
    """An independent exact draw from the target at every step.

    It serves beta = 1 alone: the target's own sampler has no temperature, so `init` refuses other inverse
    temperatures, and with them a ladder.

    Spaces: targets with exact draws.
    Cost: no evaluation.
    """

    temperable = False
    exact = True

    def check(self, target: Target) -> None:
        _exactly_sampled(target)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        check_untempered("exact_draws", beta)
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        theta = _exactly_sampled(target).sample(state.log_prob.shape, generator).to(state.theta)
        return arrive(target, state, theta)

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination), shape ``(*batch)``: the target's own probability.

        Raises:
            NotEnumerableError: if the target's states cannot be listed.
        """
        if not isinstance(target, Enumerable) or not isinstance(target.space, Discrete):
            raise NotEnumerableError(f"{type(target).__name__} gives no exact probabilities")
        log_probabilities = target.probabilities().log()
        return log_probabilities[target.space.index(destination)].to(source.log_prob)


class UniformDraws(Kernel):
    """An independent uniform state at every step, whatever the target; not exact.

    Spaces: binary, ordinal, categorical, tours.
    Cost: no evaluation.
    """

    exact = False
    temperable = False

    def check(self, target: Target) -> None:
        discrete_space("uniform_draws", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space = discrete_space("uniform_draws", target.space)
        return arrive(target, state, space.initial(state.log_prob.shape, generator, like=state.theta))

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination), shape ``(*batch)``: the same for all states."""
        space = discrete_space("uniform_draws", target.space)
        return torch.full_like(source.log_prob, -math.log(space.size))


def check_untempered(name: str, beta: Tensor) -> None:
    """Raises ValueError unless `beta` is 1 everywhere, for a kernel called `name`."""
    if not bool((torch.as_tensor(beta) == 1).all()):
        raise ValueError(
            f"{name} draws from the target at beta 1 only, other inverse temperatures were given"
        )


def arrive(target: Target, state: State, theta: Tensor) -> tuple[State, Info]:
    """The chains of `state` at `theta` ``(*batch, *event)``, whatever was there before; and the `Info`."""
    after = evaluate(target, theta, gradient=False)
    jump = jump_length(target.space, state.theta, theta)
    return after, Info(acceptance=torch.ones_like(after.log_prob), jump=jump, evaluations=0)


def _exactly_sampled(target: Target) -> ExactlySampled:
    if isinstance(target, ExactlySampled):
        return target
    raise ValueError(
        f"exact_draws needs a target that can be sampled exactly, {type(target).__name__} cannot"
    )
