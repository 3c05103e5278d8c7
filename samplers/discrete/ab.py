"""AB: an any-scale balanced sampler of first order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, is_number, positive, within
from samplers.kernel import Kernel, State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, Pilot, tune_step_size
from targets.randomness import Generator
from targets.spaces import discrete_space
from targets.target import Target

BALANCING_CANDIDATES = (0.5, 0.6, 0.75, 0.9)
"""What a pilot chooses the balancing constant from, between locally (1/2) and globally balanced (1)."""

STEP_SIZE_PILOT = Pilot(chains=16)
"""How large the pilot is that tunes sigma^2 for each balancing constant."""

JUMP_PILOT = Pilot(chains=128, steps=400)
"""How large the pilot is that compares balancing constants."""


class AB(MetropolisHastings):
    """First-order any-scale balanced sampler, after Sun et al. (2023); exact, one gradient a step.

        q(y | x) is proportional to exp{ b beta grad U(x) . (y - x) - |y - x|^2 / (2 sigma^2) },

    accepted by Metropolis-Hastings. The idea, a balancing constant b between 1/2 (right for small steps) and
    1 (right for large ones) and a scale sigma that adapts, is Sun et al.'s. Their source is not public and
    the papers that compare with AB call a module that they do not ship, so the rest is ours: the acceptance
    of 0.574 that sigma is tuned to, the choice of b by the largest mean squared jump at that acceptance, and
    the diagonal quadratic form (they also learn a full one). Tuning is a pilot before the run; the run itself
    never adapts. With ``balancing=0.5`` this is DMALA with ``step_size`` = sigma^2. The setting published for
    it in PT-DLP, sigma = 0.1 and alpha = 0.5, is ``step_size=0.01 balancing=0.5``.

    Args:
        step_size: sigma^2 in squared state units, or ``"auto"``.
        balancing: b (the papers' alpha), from 0.5 to 1, or ``"auto"``.
        acceptance: the mean acceptance probability that tuning aims at.
    """

    def __init__(
        self,
        step_size: float | str = AUTO,
        balancing: float | str = AUTO,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.balancing = None if balancing == AUTO else _balancing(balancing)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        # An untuned kernel is never stepped; it needs a proposal all the same to be built.
        scale = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        super().__init__(LangevinProposal(scale, 0.5 if self.balancing is None else self.balancing))

    def check(self, target: Target) -> None:
        discrete_space("ab", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            raise ValueError(
                f"{' and '.join(self.untuned)} of AB must be tuned before a run, 'auto' was given"
            )
        return super().init(target, theta, beta)

    def with_step_size(self, step_size: Tensor) -> MetropolisHastings:
        """The same kernel at a step size that broadcasts over the batch axes.

        Raises:
            ValueError: if the balancing constant was left to tuning, which takes a single temperature.
        """
        if self.balancing is None:
            raise ValueError("balancing must be a number from 0.5 to 1 inside a ladder, 'auto' was given")
        return MetropolisHastings(LangevinProposal(step_size, self.balancing))

    @property
    def untuned(self) -> tuple[str, ...]:
        values = {"step_size": self.step_size, "balancing": self.balancing}
        return tuple(name for name, value in values.items() if value is None)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        """Both hyperparameters from one batched pilot, and a second one where b is to be chosen."""
        like = target.like()
        balancings = BALANCING_CANDIDATES if self.balancing is None else (self.balancing,)
        balanced = _Balanced(torch.tensor(balancings).to(like).reshape(-1, 1, 1))
        report: dict[str, Any] = {"wanted_acceptance": self.acceptance, "balancing": list(balancings)}
        evaluations = 0
        if self.step_size is None:
            step_sizes, _, evaluations = tune_step_size(
                balanced,
                target,
                torch.ones(len(balancings)),
                generator,
                wanted=self.acceptance,
                pilot=STEP_SIZE_PILOT,
            )
        else:
            step_sizes = self.step_size.expand(len(balancings))
        best = 0
        if self.balancing is None:
            kernel = balanced.with_step_size(step_sizes.to(like).reshape(-1, 1, 1))
            start = target.initial((len(balancings), 1, JUMP_PILOT.chains), generator)
            jumps, acceptance, spent = mean_squared_jump(kernel, target, start, generator, JUMP_PILOT.steps)
            best = int(jumps.argmax())
            evaluations += spent
            report["mean_squared_jump"] = jumps.tolist()
            report["acceptance"] = acceptance.tolist()
        report["step_size"] = step_sizes.tolist()
        return {
            "step_size": step_sizes[best].item(),
            "balancing": balancings[best],
            "evaluations": evaluations,
            "report": report,
        }

    def tuned(self, hyperparameters: Mapping[str, Any]) -> AB:
        return AB(hyperparameters["step_size"], hyperparameters["balancing"], self.acceptance)


class _Balanced:
    """The kernel for several balancing constants at once, waiting for its step sizes."""

    def __init__(self, balancing: Tensor) -> None:
        self.balancing = balancing

    def with_step_size(self, step_size: Tensor) -> MetropolisHastings:
        return MetropolisHastings(LangevinProposal(step_size, self.balancing))


def mean_squared_jump(
    kernel: Kernel, target: Target, start: Tensor, generator: Generator, steps: int
) -> tuple[Tensor, Tensor, int]:
    """E|x' - x|^2 and the mean acceptance per leading index of `start` ``(n, 1, chains, *event_shape)``.

    Both have shape ``(n,)`` and come from the second half of `steps` steps at beta = 1; the third value is
    the number of evaluations spent per chain.
    """
    beta = torch.ones((), dtype=start.dtype, device=start.device)
    state = kernel.init(target, start, beta)
    jumps = torch.zeros(len(start), dtype=torch.float64, device=start.device)
    acceptance = torch.zeros_like(jumps)
    evaluations = 0
    for step in range(steps):
        before = state.theta
        state, info = kernel.step(target, state, beta, generator)
        evaluations += info.evaluations
        if step >= steps // 2:
            squares = (state.theta - before).square().flatten(start_dim=3).sum(-1)
            jumps += squares.mean((1, 2), dtype=torch.float64)
            acceptance += info.acceptance.mean((1, 2), dtype=torch.float64)
    measured = steps - steps // 2
    return jumps / measured, acceptance / measured, evaluations


def _balancing(value: Any) -> float:
    """`value` as a float in [0.5, 1].

    Raises:
        ValueError: if it is not, and not ``auto`` either.
    """
    if not is_number(value) or not 0.5 <= value <= 1.0:
        raise ValueError(f"balancing must be a number from 0.5 to 1 or 'auto', {value!r} was given")
    return float(value)
