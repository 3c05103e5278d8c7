"""ACS from a configuration: a cycle of numbers, or the tuning of what is open in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samplers.discrete.acs import ACS, FLOOR_BALANCING
from samplers.hyperparameters import (
    AUTO,
    check_floor,
    cycle_balancing,
    cycle_positions,
    positive_or_auto,
    wanted_acceptance,
)
from samplers.kernel import Kernel
from samplers.pilot_run import PilotRun, Steps
from samplers.proposals.cyclical_langevin import cosine_steps
from samplers.tuning.pilots import acs_cycle
from samplers.tuning.pilots.acs_cycle import Aims, Found
from samplers.tuning.pilots.cycle_shortfall import cycle_shortfall
from samplers.tuning.tunable import Settings, TuningResult
from targets.checks import within
from targets.spaces import discrete_space
from targets.target import Target

PILOT_CHAINS, LEAST_CHAINS = 256, 32
"""Chains of a full pilot, where mean acceptances of a single step are known to about 0.02, and of any."""


@dataclass(eq=False)
class CycleSettings(Settings):
    """ACS and its tuning (`samplers.tuning.pilots.acs_cycle`).

    Args:
        steps: length of the run, which is cut into `cycles`; not needed with `cycle_length`.
        cycles: number of cycles; a cycle has ``steps // cycles`` positions, at least 2.
        cycle_length: number of positions of a cycle, instead of `steps` and `cycles`.
        step_size: alpha_max, or ``"auto"``: the first from the large end that is accepted as often as
            `target_acceptance`.
        min_step_size: alpha_min, or ``"auto"``: accepted as often as `target_acceptance` with balancing 1/2.
        balancing: b above the floor: one number, one per position, or ``"auto"``: the highest acceptance.
        target_acceptance: rho* in the paper.
        beta_max: the largest balancing constant (no inverse temperature).
        zeta: how fast the search for step sizes moves.
    """

    steps: int | None = None
    cycles: int = 10
    cycle_length: int | None = None
    step_size: float | str = AUTO
    min_step_size: float | str = AUTO
    balancing: float | Sequence[float] | str = AUTO
    target_acceptance: float = 0.5
    beta_max: float = 0.95
    zeta: float = 0.5

    def __post_init__(self) -> None:
        self.length = cycle_positions(self.cycle_length, self.steps, self.cycles)
        positive_or_auto("step_size", self.step_size)
        positive_or_auto("min_step_size", self.min_step_size)
        check_floor(self.step_size, self.min_step_size)
        self.aims = Aims(
            wanted_acceptance(self.target_acceptance, "target_acceptance"),
            within("beta_max", self.beta_max, 0.5, 1.0),
            within("zeta", self.zeta, 0.01, 1.0),
        )
        balancing = (
            AUTO if self.balancing == AUTO else cycle_balancing(self.balancing, self.length, auto=True)
        )
        given = (self.step_size, self.min_step_size)
        maximum, floor = (value if value == AUTO else float(value) for value in given)
        example = ACS(self.length, 1.0, 1.0, FLOOR_BALANCING)
        self.keep(example, step_size=maximum, min_step_size=floor, balancing=balancing)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        numbers = (hyperparameters[name] for name in ("step_size", "min_step_size", "balancing"))
        return ACS(self.length, *numbers)

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        """What is open, in the order floor, maximum, balancing constants.

        A maximum that is given limits the floor; otherwise the floor limits the maximum. The two come from
        different balancing constants, so a maximum below the floor does occur: on the 8-mode grid targets,
        where `beta_max` overshoots the modes. The cycle is then flat, which is DMALA at alpha_min, and the
        report says so (``"flat"``).
        """
        space = discrete_space("acs", target.space)
        run.planned = acs_cycle.planned_rounds(space)
        state = yield from acs_cycle.warm_up(run, space, self.aims, run.sized(PILOT_CHAINS, LEAST_CHAINS))
        evaluations = acs_cycle.WARM_UP_STEPS
        report: dict[str, Any] = {"target_acceptance": self.aims.acceptance}
        searches: dict[str, Found] = {}
        floor, maximum, balancing = (self.given[name] for name in ("min_step_size", "step_size", "balancing"))
        if floor == AUTO:
            found = yield from acs_cycle.find_floor(run, space, state, self.aims)
            state, evaluations = found.state, evaluations + found.evaluations
            report["floor"] = {"step_size": found.step_size, "acceptance": found.acceptance}
            searches["min_step_size"] = found
            floor = found.step_size if maximum == AUTO else min(found.step_size, maximum)
        if maximum == AUTO:
            found = yield from acs_cycle.find_maximum(run, space, state, self.aims)
            state, evaluations = found.state, evaluations + found.evaluations
            report["maximum"] = {"step_size": found.step_size, "acceptance": found.acceptance}
            searches["step_size"] = found
            maximum = max(found.step_size, floor)
        if balancing == AUTO:
            above = [size for size in cosine_steps(maximum, floor, self.length) if size > floor]
            chosen, spent = yield from acs_cycle.find_balancings(run, state, above, self.aims)
            balancing = chosen + [FLOOR_BALANCING] * (self.length - len(above))
            evaluations += spent
        report["flat"] = maximum == floor
        report |= cycle_shortfall(space, self.aims, searches)
        numbers = {"step_size": maximum, "min_step_size": floor, "balancing": balancing}
        return TuningResult(numbers, evaluations, report)
