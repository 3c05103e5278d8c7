"""Replica exchange Langevin (ReLD) and its version with several hot replicas (mReLD)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.kernel_family import RungKernels, takes_step_size
from samplers.metropolis_hastings import MetropolisHastings, jump_length
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.tempering.ladder import check_ladder, require_replica_axis
from samplers.tempering.level_move import level_move
from samplers.tempering.poisson_swaps import PoissonSwaps
from samplers.tempering.swaps.swap_round import REPLICA, replica_labels
from samplers.tempering.tempered_levels import TemperedLevels
from targets.checks import described
from targets.randomness import Generator
from targets.spaces import Real, real_space
from targets.target import Target


class ReplicaExchangeLangevin(Kernel):
    """K + 1 Langevin diffusions on pi_0 = pi, .., pi_K at speeds tau_k, and swaps between neighbours.

    ReLD, section 1.2, in time steps of length h. Replica k moves by

        x' = x + h tau_k grad log pi_k(x) + sqrt(2 h tau_k) xi,  xi standard normal,

    and the pairs (k, k + 1) swap at the times of Poisson processes of intensity rho (Eqs. 4 and 5). The
    levels are pi_k = pi^beta_k, the last times phi(x / M) (Corollary 2); ReLD itself is K = 1, where Eq. 3
    takes beta_1 = 1 / tau_1. The draws are those of replica 0. With MALA every move and every swap leaves
    the product of the levels invariant; with ULA the step biases it. One evaluation of the target for each
    replica and step: swaps take the log density and its gradient along.

    Spaces: real.
    Cost: for each replica, one gradient.
    Source: ReLD, section 1.2, Eqs. 3-5.

    Args:
        kernel: MALA or ULA, which says whether moves are adjusted; its own step size is not used.
        ladder: 1 = beta_0 > .. > beta_K >= 0.
        step_size: h, the time of a step (`samplers.tuning.exchange_time` finds it).
        tau: speeds: one number for all replicas but the first, whose speed is 1; a list of one for each
            replica; or None for 1 / beta_k.
        rho: swap intensity, attempts per unit of time and pair; a pair tries at most once a step.
        scale: M, in the units of the states; None for no Gaussian.
    """

    tensor_step_size = False

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float],
        step_size: float,
        tau: float | Sequence[float] | None = None,
        rho: float = 1.0,
        scale: float | None = None,
    ) -> None:
        betas = check_ladder(ladder, auto=False)
        self.base = kernel
        self.speeds = _speeds(tau, betas)
        time = positive("step_size", step_size)
        extent = None if scale is None else positive("scale", scale)
        if betas[-1] == 0 and extent is None:
            raise ValueError("scale must be a positive number where the ladder ends in 0, None was given")
        self.levels = TemperedLevels(betas, extent)
        self.poisson = PoissonSwaps(positive("rho", rho), time)
        _check_langevin(kernel)
        self.rungs = RungKernels(kernel, time * self.speeds)
        self.exact = kernel.exact
        self.axes = (len(betas),)

    @property
    def needs_gradient(self) -> bool:
        return True

    def check(self, target: Target) -> None:
        real_space("replica exchange Langevin", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        batch = target.space.batch_shape(theta)
        require_replica_axis("replica exchange Langevin", theta, batch, self.axes[0])
        state = evaluate(target, theta, gradient=True)
        return replace(state, aux={REPLICA: replica_labels(state.log_prob)})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        moved, acceptance = self._moved(target, replace(state, aux={}), beta, generator)
        moved = replace(moved, aux={REPLICA: state.aux[REPLICA]})
        after, swap = self.poisson.round(
            moved, lambda here: self.levels.swap_log_ratio(here, beta), generator
        )
        return after, Info(
            acceptance=acceptance[0],
            jump=jump_length(target.space, state.theta[0], after.theta[0]),
            evaluations=self.axes[0],
            swap=swap,
            rungs=acceptance,
        )

    def draws(self, state: State) -> Tensor:
        return state.theta[0]

    def log_acceptance(self, space: Real, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of each replica's adjusted move, ``(K + 1, *batch)``; for the tests."""
        levels = self.levels.at(source, beta), self.levels.at(destination, beta)
        return self._local(source.log_prob.dim()).log_acceptance(space, *levels, torch.ones_like(beta))

    def _moved(
        self, target: Target, state: State, beta: Tensor, generator: Generator
    ) -> tuple[State, Tensor]:
        """Each replica after its Langevin move, and the acceptance probabilities, ``(K + 1, *batch)``."""
        local = self._local(state.log_prob.dim())
        return level_move(local, target, state, lambda here: self.levels.at(here, beta), generator)

    def _local(self, axes: int) -> MetropolisHastings:
        """MALA or ULA at the replicas' step sizes, for states of so many batch axes."""
        local = self.rungs.laid(axes)
        assert isinstance(local, MetropolisHastings)
        return local


def _speeds(tau: Any, betas: Tensor) -> Tensor:
    """tau_k as a float64 tensor ``(K + 1,)``; ValueError unless there is a positive one for each level."""
    if tau is None:
        if betas[-1] == 0:
            raise ValueError("tau must be given where the ladder ends in 0, None stands for 1 / beta")
        return betas.reciprocal()
    if isinstance(tau, Sequence) and not isinstance(tau, str):
        speeds = [positive("tau", value) for value in tau]
        if len(speeds) != len(betas):
            raise ValueError(
                f"tau must be null, one number, or one for each of the {len(betas)} levels of the ladder, "
                f"{list(tau)!r} was given"
            )
        return torch.stack(speeds)
    speed = positive("tau", tau)
    return torch.cat([torch.ones_like(betas[:1]), speed.expand(len(betas) - 1)])


def _check_langevin(kernel: Kernel) -> None:
    """ValueError unless `kernel` is MALA or ULA."""
    diffuses = isinstance(kernel, MetropolisHastings) and takes_step_size(type(kernel))
    if not diffuses or not isinstance(getattr(kernel, "proposal", None), LangevinDiffusionProposal):
        raise ValueError(f"kernel must be MALA or ULA, {described(kernel)} was given")
