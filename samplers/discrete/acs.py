"""ACS: the automatic cyclical sampler (Pynadath et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from samplers.hyperparameters import check_floor, cycle_balancing, one_number
from samplers.kernel import Info, Kernel, State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.cyclical_langevin import POSITION, CyclicalLangevin, cosine_steps
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.checks import positive_number, whole_number
from targets.randomness import Generator
from targets.spaces import Space, level_space
from targets.target import Target

FLOOR_BALANCING = 0.5
"""Balancing constant wherever the step size stands at its floor."""


class ACS(MetropolisHastings):
    """Metropolis-Hastings whose step size falls along a cosine in cycles; exact at every position.

    Large steps with a large balancing constant find modes, small steps with 1/2 explore them. All
    chains stand at the same position, an int64 scalar in ``State.aux["position"]``; every step costs one
    gradient. How the published sampler finds these numbers is in `samplers.tuning.pilots.acs_cycle`.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Pynadath et al. (2024), Eqs. 5 to 7 and Algorithm 1.

    Args:
        cycle_length: number of positions of a cycle, at least 2.
        step_size: alpha_max, the initial and largest step of a cycle in squared state units.
        min_step_size: alpha_min, the floor of the schedule. Positions at the floor have balancing 1/2.
        balancing: b above the floor: one number, or one per position.
    """

    proposal: CyclicalLangevin | LangevinProposal
    tensor_step_size = False

    def __init__(
        self,
        cycle_length: int,
        step_size: float,
        min_step_size: float,
        balancing: float | Sequence[float],
    ) -> None:
        self.cycle_length = whole_number("cycle_length", cycle_length, 2)
        self.step_size = positive_number("step_size", one_number(step_size))
        self.min_step_size = positive_number("min_step_size", one_number(min_step_size))
        check_floor(self.step_size, self.min_step_size)
        self.balancing = cycle_balancing(balancing, self.cycle_length)
        sizes = cosine_steps(self.step_size, self.min_step_size, self.cycle_length)
        balancings = [
            b if size > self.min_step_size else FLOOR_BALANCING
            for b, size in zip(self.balancing, sizes, strict=True)
        ]
        super().__init__(
            CyclicalLangevin(
                torch.tensor(sizes, dtype=torch.float64), torch.tensor(balancings, dtype=torch.float64)
            )
        )

    def check(self, target: Target) -> None:
        level_space("acs", target.space)

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """With tables where all positions have the same settings, as where alpha_max equals the floor."""
        proposal = self.proposal.constant() if isinstance(self.proposal, CyclicalLangevin) else None
        tables = None if proposal is None else proposal.tabulated(target, beta)
        return self if tables is None else self.prepared_copy(target, proposal=tables)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        position = torch.zeros((), dtype=torch.int64, device=theta.device)
        return replace(super().init(target, theta, beta), aux={POSITION: position})

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        # The reverse move is evaluated at the position of the forward move.
        back = replace(destination, aux=source.aux)
        return super()._log_acceptance(space, source, back, beta, forward)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        position = (state.aux[POSITION] + 1) % self.cycle_length
        return replace(after, aux={POSITION: position}), info
