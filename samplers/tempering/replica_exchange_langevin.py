"""Replica exchange Langevin (ReLD) and its version with several hot replicas (mReLD)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, positive, within
from samplers.kernel import Info, Kernel, State, choose, evaluate
from samplers.metropolis_hastings import MetropolisHastings, Unadjusted, jump_length
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.tempering.ladder import check_ladder
from samplers.tempering.parallel_tempering import REPLICA
from samplers.tempering.poisson_swaps import ExponentialClock
from samplers.tempering.tempered_levels import TemperedLevels
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, Steppable, tune_step_size
from targets.randomness import Generator, uniform
from targets.spaces import Real, real_space
from targets.target import Target


class ReplicaExchangeLangevin(Kernel):
    """K + 1 Langevin diffusions on pi_0 = pi, .., pi_K at speeds tau_k, and swaps between neighbours.

    ReLD, section 1.2, in time steps of length h. Replica k moves by

        x' = x + h tau_k grad log pi_k(x) + sqrt(2 h tau_k) xi,  xi standard normal,

    and the pairs (k, k + 1) swap at the ringing of exponential clocks of intensity rho (Eqs. 4 and 5). The
    levels are pi_k = pi^beta_k, the last times phi(x / M) (Corollary 2); ReLD itself is K = 1, where Eq. 3
    takes beta_1 = 1 / tau_1. The draws are those of replica 0. With MALA every move and every swap leaves
    the product of the levels invariant; with ULA the step biases it. One evaluation of the target for each
    replica and step: swaps take the log density and its gradient along.

    Args:
        kernel: MALA or ULA, which says whether moves are adjusted; its own step size is not used.
        ladder: 1 = beta_0 > .. > beta_K >= 0.
        step_size: h, the time of a step, or ``"auto"``: as long as each replica's move is accepted with
            probability `acceptance` or more, found in a pilot that leaves the Gaussian out.
        tau: speeds: one number for all replicas but the first, whose speed is 1; a list of one for each
            replica; or None for 1 / beta_k.
        rho: swap intensity, attempts per unit of time and pair; a pair tries at most once a step.
        scale: M, in the units of the states; None for no Gaussian.
        acceptance: what an automatic step size aims at.
    """

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float],
        step_size: float | str = AUTO,
        tau: float | Sequence[float] | None = None,
        rho: float = 1.0,
        scale: float | None = None,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        betas = check_ladder(ladder, auto=False)
        self.base = kernel
        self.given: dict[str, Any] = {"ladder": ladder, "tau": tau, "rho": rho, "scale": scale}
        self.speeds = _speeds(tau, betas)
        self.step_size = positive("step_size", step_size, auto=True)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        extent = None if scale is None else positive("scale", scale)
        if betas[-1] == 0 and extent is None:
            raise ValueError("scale must be a positive number where the ladder ends in 0, None was given")
        self.levels = TemperedLevels(betas, extent)
        intensity = positive("rho", rho)
        assert intensity is not None
        # An untuned kernel is never stepped; it needs its parts all the same to be built.
        time = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        self.clock = ExponentialClock(intensity, time)
        self.local = _local_moves(kernel, time * self.speeds.reshape(-1, 1, 1))
        self.exact = isinstance(self.local, MetropolisHastings)
        self.axes = (len(betas),)

    @property
    def needs_gradient(self) -> bool:
        return True

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        """The longest h at which every replica's move is accepted with the wanted probability."""
        self.check(target)
        assert isinstance(self.base, Steppable)
        betas, speeds = self.levels.betas.double().cpu().flatten(), self.speeds.double().cpu()
        # Where beta is 0 nothing of the target is left to reject a move.
        tempered = betas > 0
        sizes, found, evaluations = tune_step_size(
            self.base, target, betas[tempered], generator, wanted=self.acceptance
        )
        times = sizes.cpu() / speeds[tempered]
        return {
            "step_size": times.min().item(),
            "evaluations": evaluations * len(times),
            "report": {
                "wanted_acceptance": self.acceptance,
                "lowest_acceptance": found.min().item(),
                "longest_times": times.tolist(),
            },
        }

    def tuned(self, hyperparameters: Mapping[str, Any]) -> ReplicaExchangeLangevin:
        return ReplicaExchangeLangevin(
            self.base, step_size=hyperparameters["step_size"], acceptance=self.acceptance, **self.given
        )

    def check(self, target: Target) -> None:
        real_space("replica exchange Langevin", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            raise ValueError("step_size of ReLD must be tuned before a run, 'auto' was given")
        self.check(target)
        state = evaluate(target, theta, gradient=True)
        rungs = torch.arange(len(theta), device=theta.device)
        replica = rungs.reshape(-1, *(1,) * (state.log_prob.dim() - 1)).expand(state.log_prob.shape)
        return replace(state, aux={REPLICA: replica.clone()})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        moved, acceptance = self._moved(target, replace(state, aux={}), beta, generator)
        moved = replace(moved, aux={REPLICA: state.aux[REPLICA]})
        after, swap = self.clock.round(moved, lambda here: self.levels.swap_log_ratio(here, beta), generator)
        return after, Info(
            acceptance=acceptance[0],
            jump=jump_length(target.space, state.theta[0], after.theta[0]),
            evaluations=self.axes[0],
            swap=swap,
        )

    def draws(self, state: State) -> Tensor:
        return state.theta[0]

    def log_acceptance(self, space: Real, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of each replica's adjusted move, ``(K + 1, *batch)``; for the tests."""
        assert isinstance(self.local, MetropolisHastings)
        levels = self.levels.at(source, beta), self.levels.at(destination, beta)
        return self.local.log_acceptance(space, *levels, torch.ones_like(beta))

    def _moved(
        self, target: Target, state: State, beta: Tensor, generator: Generator
    ) -> tuple[State, Tensor]:
        """Each replica after its Langevin move, and the acceptance probabilities, ``(K + 1, *batch)``."""
        # The levels hold all inverse temperatures already.
        one, level, space = torch.ones_like(beta), self.levels.at(state, beta), target.space
        theta, forward = self.local.proposal.propose(space, level, one, generator)
        proposed = evaluate(target, theta, gradient=True)
        if isinstance(self.local, Unadjusted):
            return proposed, torch.ones_like(proposed.log_prob)
        there = self.levels.at(proposed, beta)
        acceptance = self.local._log_acceptance(space, level, there, one, forward).exp()
        accepted = uniform(generator, acceptance.shape, like=acceptance) < acceptance
        return choose(accepted, proposed, state), acceptance


def _speeds(tau: Any, betas: Tensor) -> Tensor:
    """tau_k as a float64 tensor ``(K + 1,)``; ValueError unless there is a positive one for each level."""
    if tau is None:
        if betas[-1] == 0:
            raise ValueError("tau must be given where the ladder ends in 0, None stands for 1 / beta")
        return betas.reciprocal()
    if isinstance(tau, Sequence) and not isinstance(tau, str):
        speeds = [speed for speed in (positive("tau", value) for value in tau) if speed is not None]
        if len(speeds) != len(betas):
            raise ValueError(
                f"tau must be null, one number, or one for each of the {len(betas)} levels of the ladder, "
                f"{list(tau)!r} was given"
            )
        return torch.stack(speeds)
    speed = positive("tau", tau)
    assert speed is not None
    return torch.cat([torch.ones_like(betas[:1]), speed.expand(len(betas) - 1)])


def _local_moves(kernel: Kernel, step_sizes: Tensor) -> MetropolisHastings | Unadjusted:
    """`kernel` at `step_sizes`; ValueError unless it is MALA or ULA."""
    local = kernel.with_step_size(step_sizes) if isinstance(kernel, Steppable) else None
    if isinstance(local, (MetropolisHastings, Unadjusted)) and isinstance(
        local.proposal, LangevinDiffusionProposal
    ):
        return local
    raise ValueError(f"kernel must be MALA or ULA, {type(kernel).__name__} was given")
