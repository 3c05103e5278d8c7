"""ACS: the automatic cyclical sampler (Pynadath et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, count, is_number, positive, within
from samplers.kernel import Info, State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.cyclical_langevin import POSITION, CyclicalLangevin, cosine_steps
from samplers.tuning import acs_cycle
from samplers.tuning.acs_cycle import Aims
from targets.randomness import Generator
from targets.spaces import Space, discrete_space
from targets.target import Target

PILOT_CHAINS = 256
"""Chains of the pilot: mean acceptances of a single step are then known to about 0.02."""

FLOOR_BALANCING = 0.5
"""Balancing constant wherever the step size stands at its floor."""


class ACS(MetropolisHastings):
    """Metropolis-Hastings whose step size falls and rises in cycles; exact at every position of the cycle.

    Large steps with a large balancing constant look for modes, small ones with 1/2 characterise them. All
    chains stand at the same position, an int64 scalar in ``State.aux["position"]``; every step costs one
    gradient. What is ``"auto"`` is found by a pilot before the run (`samplers.tuning.acs_cycle`); the run
    itself adapts nothing.

    Args:
        steps: length of the run, which is cut into `cycles`; not needed with `cycle_length`.
        cycles: number of cycles; a cycle has ``steps // cycles`` positions, at least 2.
        cycle_length: number of positions of a cycle, instead of `steps` and `cycles`.
        step_size: alpha_max, the initial and largest step of a cycle in squared state units, or ``"auto"``:
            the first from the large end that is accepted as often as `target_acceptance`.
        min_step_size: alpha_min, the floor of the schedule, or ``"auto"``: accepted as often as
            `target_acceptance` with balancing 1/2. Positions at the floor have balancing 1/2.
        balancing: b above the floor: one number, one per position, or ``"auto"``: the highest acceptance.
        target_acceptance: rho* in the paper.
        beta_max: the largest balancing constant (no inverse temperature).
        zeta: how fast the search for step sizes moves.
    """

    proposal: CyclicalLangevin

    def __init__(
        self,
        steps: int | None = None,
        cycles: int = 10,
        cycle_length: int | None = None,
        step_size: float | str = AUTO,
        min_step_size: float | str = AUTO,
        balancing: float | Sequence[float] | str = AUTO,
        target_acceptance: float = 0.5,
        beta_max: float = 0.95,
        zeta: float = 0.5,
    ) -> None:
        self.cycle_length = _cycle_length(steps, cycles, cycle_length)
        self.step_size = _number(positive("step_size", step_size, auto=True))
        self.min_step_size = _number(positive("min_step_size", min_step_size, auto=True))
        if self.step_size is not None and (self.min_step_size or 0.0) > self.step_size:
            raise ValueError(
                f"min_step_size must not exceed step_size={self.step_size:g}, {min_step_size!r} was given"
            )
        self.target_acceptance = within("target_acceptance", target_acceptance, 0.01, 0.99)
        self.beta_max = within("beta_max", beta_max, 0.5, 1.0)
        self.zeta = within("zeta", zeta, 0.01, 1.0)
        self.balancing = self._check_balancing(balancing)
        # An untuned kernel is never stepped; it needs a proposal all the same to be built.
        sizes = [1.0] * self.cycle_length
        balancings = [FLOOR_BALANCING] * self.cycle_length
        if self.step_size is not None and self.min_step_size is not None and self.balancing is not None:
            sizes = cosine_steps(self.step_size, self.min_step_size, self.cycle_length)
            above = [size > self.min_step_size for size in sizes]
            balancings = [
                b if free else FLOOR_BALANCING for b, free in zip(self.balancing, above, strict=True)
            ]
        super().__init__(
            CyclicalLangevin(
                torch.tensor(sizes, dtype=torch.float64), torch.tensor(balancings, dtype=torch.float64)
            )
        )

    def _check_balancing(self, value: Any) -> list[float] | None:
        if value == AUTO:
            return None
        if is_number(value):
            return [within("balancing", value, 0.0, 1.0)] * self.cycle_length
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != self.cycle_length:
            raise ValueError(
                f"balancing must be 'auto', a number from 0 to 1, or one for each of the "
                f"{self.cycle_length} positions, {value!r} was given"
            )
        return [within("balancing", each, 0.0, 1.0) for each in value]

    def check(self, target: Target) -> None:
        discrete_space("acs", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            raise ValueError(
                f"{' and '.join(self.untuned)} of ACS must be tuned before a run, 'auto' was given"
            )
        position = torch.zeros((), dtype=torch.int64, device=theta.device)
        return replace(super().init(target, theta, beta), aux={POSITION: position})

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        # The way back is judged at the position of the way there.
        back = replace(destination, aux=source.aux)
        return super()._log_acceptance(space, source, back, beta, forward)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        position = (state.aux[POSITION] + 1) % self.cycle_length
        return replace(after, aux={POSITION: position}), info

    @property
    def untuned(self) -> tuple[str, ...]:
        values = {
            "step_size": self.step_size,
            "min_step_size": self.min_step_size,
            "balancing": self.balancing,
        }
        return tuple(name for name, value in values.items() if value is None)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        """The hyperparameters left to tuning, in the order floor, maximum, balancing constants.

        A maximum that is given limits the floor; otherwise the floor limits the maximum. The two come from
        different balancing constants, so a maximum below the floor does occur: on the 8-mode grid targets,
        where `beta_max` overshoots the modes. The cycle is then flat, which is DMALA at alpha_min, and the
        report says so (``"flat"``).
        """
        space = discrete_space("acs", target.space)
        aims = Aims(self.target_acceptance, self.beta_max, self.zeta)
        state = acs_cycle.warm_up(target, space, aims, PILOT_CHAINS, generator)
        evaluations = acs_cycle.WARM_UP_STEPS
        report: dict[str, Any] = {"target_acceptance": self.target_acceptance}
        floor, maximum, balancing = self.min_step_size, self.step_size, self.balancing
        if floor is None:
            found = acs_cycle.find_floor(target, space, state, aims, generator)
            state, evaluations = found.state, evaluations + found.evaluations
            report["floor"] = {"step_size": found.step_size, "acceptance": found.acceptance}
            floor = found.step_size if maximum is None else min(found.step_size, maximum)
        if maximum is None:
            found = acs_cycle.find_maximum(target, space, state, aims, generator)
            state, evaluations = found.state, evaluations + found.evaluations
            report["maximum"] = {"step_size": found.step_size, "acceptance": found.acceptance}
            maximum = max(found.step_size, floor)
        if balancing is None:
            above = [size for size in cosine_steps(maximum, floor, self.cycle_length) if size > floor]
            chosen, spent = acs_cycle.find_balancings(target, state, above, aims, generator)
            balancing = chosen + [FLOOR_BALANCING] * (self.cycle_length - len(above))
            evaluations += spent
        report["flat"] = maximum == floor
        return {
            "step_size": maximum,
            "min_step_size": floor,
            "balancing": balancing,
            "evaluations": evaluations,
            "report": report,
        }

    def tuned(self, hyperparameters: Mapping[str, Any]) -> ACS:
        return ACS(
            cycle_length=self.cycle_length,
            step_size=hyperparameters["step_size"],
            min_step_size=hyperparameters["min_step_size"],
            balancing=hyperparameters["balancing"],
            target_acceptance=self.target_acceptance,
            beta_max=self.beta_max,
            zeta=self.zeta,
        )


def _number(value: Tensor | None) -> float | None:
    return None if value is None else value.item()


def _cycle_length(steps: Any, cycles: Any, cycle_length: Any) -> int:
    number = count("cycles", cycles)
    if cycle_length is not None:
        return count("cycle_length", cycle_length, 2)
    if steps is None:
        raise ValueError("steps or cycle_length must be given, neither was")
    return max(2, count("steps", steps) // number)
