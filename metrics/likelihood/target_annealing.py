"""Annealed importance sampling of any discrete target, with any exact kernel as the transition."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.annealed_target import AnnealedTarget
from metrics.statistics.sums import restore
from samplers.kernel import Kernel, State
from samplers.tuning.tunable import Tunable
from targets.randomness import Generator, Streams
from targets.reference_distribution import base_law
from targets.target import Target


class TargetAnnealing:
    """Chains that walk along log f_beta = (1 - beta) log p0 + beta U and gather log weights.

    p0 is the `targets.reference_distribution`, so log Z_0 = 0. A step adds log f_after - log f_before of
    where the chains stand, (after - before) (U - log p0), and then moves them by one step of `kernel` at the
    temperature that it reached (Neal 2001; experiments D.2). No weight follows the last step, so it moves
    nothing.

    Forward, along a `metrics.likelihood.ais_schedule` from draws of p0: E w = Z, so log mean w is too low on
    average. Reverse, along the flipped schedule from draws of the target: E w = 1 / Z, so -log mean w is too
    high on average, as far as they are draws of the target (Grosse, Ghahramani and Adams 2015). Temperatures
    may be
    repeated: at a repeated 1 the walk moves the draws that it starts from and weighs nothing.

    The cost is one evaluation where the chains start and those of one kernel step a temperature, none for
    weights: `AnnealedTarget` carries what the kernel caches from one temperature to the next. Where a kernel
    caches more than log density and gradient, its state is made anew each time, which costs an evaluation.
    Memory does not grow with the number of temperatures, no step waits for the device, and a seed's numbers
    are the same bits alone and beside others where the target is batch invariant.

    Args:
        target: on a discrete space; its parameters must not change while chains walk.
        kernel: what moves the chains, see `check_transition`; its hyperparameters as they were given, at
            every temperature.
        betas: inverse temperatures in the order in which they are walked, ``(steps + 1,)``.
        theta: where the chains start, ``(*seeds, chains, *event_shape)``.
        generator: streams with one entry per seed, or one generator.

    Attributes:
        step: how many steps are done, out of `steps`.
        log_weights: log weight of each chain so far, ``(*seeds, chains)``, float64.
        evaluations: evaluations of the target per chain so far.

    Raises:
        ValueError: for a target or kernel that cannot be annealed, or other inverse temperatures.
    """

    def __init__(
        self, target: Target, kernel: Kernel, betas: Tensor, theta: Tensor, generator: Generator
    ) -> None:
        check_transition(target, kernel)
        self.betas: list[float] = betas.tolist()
        _check_betas(self.betas)
        like = target.like()
        self.kernel, self.generator = kernel.to(like), generator
        self.one = like.new_ones(())
        # At beta = 0 what a state caches says nothing of U: a walk from there evaluates at its first step's.
        self.path = AnnealedTarget(target, base_law(target), self.betas[0] or self.betas[1])
        self.step, self.evaluations = 0, 1
        with torch.no_grad():
            self.state = self.kernel.init(self.path, theta.to(like, copy=True), self.one)
        self.log_weights = torch.zeros_like(self.state.log_prob, dtype=torch.float64)

    @property
    def steps(self) -> int:
        """Steps of the whole walk: one less than there are inverse temperatures."""
        return len(self.betas) - 1

    @property
    def theta(self) -> Tensor:
        """Where the chains stand, ``(*seeds, chains, *event_shape)``."""
        return self.state.theta

    @torch.no_grad()
    def advance(self, steps: int) -> None:
        """Walks so many steps further, or to the end if that comes first."""
        for _ in range(min(steps, self.steps - self.step)):
            before, after = self.betas[self.step : self.step + 2]
            base, gap = self.path.split(self.state)
            self.log_weights.add_(gap, alpha=after - before)
            self.step += 1
            if self.step < self.steps:
                state = self._fresh(self.path.moved(self.state, base, gap, after))
                self.state, info = self.kernel.step(self.path, state, self.one, self.generator)
                self.evaluations += info.evaluations

    def _fresh(self, state: State) -> State:
        """`state` with all that its kernel caches at the temperature of the path."""
        if any(tensor.is_floating_point() for tensor in state.aux.values()):
            self.evaluations += 1
            return self.kernel.refreshed(self.path, state, self.one)
        return state

    def state_dict(self) -> dict[str, Any]:
        """Copies of all that the rest of the walk needs, random numbers included."""
        generator = self.generator
        return {
            "betas": torch.tensor(self.betas, dtype=torch.float64),
            "step": self.step,
            "beta": self.path.beta,
            "evaluations": self.evaluations,
            "state": {name: tensor.clone() for name, tensor in self._tensors().items()},
            "log_weights": self.log_weights.clone(),
            "generator": generator.state_dict() if isinstance(generator, Streams) else generator.get_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict` of the same walk, bit for bit.

        Raises:
            ValueError: if it comes from other temperatures, seeds, chains or another kernel.
        """
        if state["betas"].tolist() != self.betas:
            raise ValueError("the saved annealing has other temperatures than this one")
        own = {name: tensor.clone() for name, tensor in self._tensors().items()}
        if set(own) != set(state["state"]):
            raise ValueError("the saved annealing is that of another kernel")
        for name, tensor in own.items():
            restore(name, tensor, state["state"][name])
        restore("log_weights", self.log_weights, state["log_weights"])
        theta, log_prob, grad = own.pop("theta"), own.pop("log_prob"), own.pop("grad", None)
        self.state = State(theta, log_prob, grad, {name.removeprefix("aux."): own[name] for name in own})
        if isinstance(self.generator, Streams):
            self.generator.load_state_dict(state["generator"])
        else:
            self.generator.set_state(state["generator"])
        self.step, self.path.beta = int(state["step"]), float(state["beta"])
        self.evaluations = int(state["evaluations"])

    def _tensors(self) -> dict[str, Tensor]:
        """All tensors of the state by name."""
        state = self.state
        tensors = {"theta": state.theta, "log_prob": state.log_prob}
        if state.grad is not None:
            tensors["grad"] = state.grad
        return tensors | {f"aux.{name}": tensor for name, tensor in state.aux.items()}


def check_transition(target: Target, kernel: Kernel) -> None:
    """Refuses what annealed importance sampling cannot use; costs nothing.

    Raises:
        ValueError: saying which target or kernel was given and what is allowed.
    """
    law = base_law(target)
    if target.constrained:
        raise ValueError(
            "annealing needs a target whose every state has density, since its base law reaches all; "
            f"{type(target).__name__} is constrained"
        )
    check_kernel(kernel)
    kernel.check(AnnealedTarget(target, law, 1.0))


def check_kernel(kernel: Kernel | Tunable) -> None:
    """Refuses a kernel that is no transition of annealed importance sampling, whatever the target.

    Raises:
        ValueError: saying which kernel was given and what is allowed.
    """
    if isinstance(kernel, Tunable):
        raise _unfit(kernel.example, f"{' and '.join(kernel.open)} left to tuning")
    faults = {
        "several replicas": bool(kernel.axes),
        "chains that move between temperatures": kernel.has_levels,
        "an auxiliary variable of which the base law has no draws": bool(kernel.persistent_aux),
        "transitions that leave another law than the target's, so that the estimate would be biased": (
            not kernel.exact
        ),
    }
    for fault, given in faults.items():
        if given:
            raise _unfit(kernel, fault)


def _unfit(kernel: Kernel, fault: str) -> ValueError:
    return ValueError(
        "annealing needs an exact kernel on single states with given hyperparameters, "
        f"{type(kernel).__name__} has {fault}"
    )


def _check_betas(betas: list[float]) -> None:
    """Refuses inverse temperatures that do not lead from one end to the other."""
    rising = betas if betas[:1] == [0.0] else betas[::-1]
    monotone = all(before <= after for before, after in pairwise(rising))
    if len(betas) < 2 or rising[0] != 0 or rising[-1] != 1 or not monotone or rising[1] == 0:
        raise ValueError(
            "betas must lead from 0 to 1 or back without turning, and be 0 only at that end, "
            f"{betas if len(betas) < 8 else [*betas[:3], '...', *betas[-3:]]} was given"
        )
