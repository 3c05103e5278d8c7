"""Annealed importance sampling of any discrete target, with any exact kernel as the transition."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.annealed_target import AnnealedTarget
from metrics.likelihood.annealing import Annealing
from metrics.metric import restore
from samplers import Kernel, State, Tunable
from targets.randomness import Generator
from targets.reference_distribution import reference_distribution
from targets.target import Target


class TargetAnnealing(Annealing):
    """Chains that move along log f_beta = (1 - beta) log p0 + beta U and accumulate log importance weights.

    p0 is the `targets.reference_distribution`, so log Z_0 = 0. A step adds log f_after - log f_before =
    (after - before) (U - log p0) of the current states to the log weights, and then moves the states by one
    step of `kernel` at the new temperature (Neal 2001; settings D.2). The last step moves nothing, as no
    weight follows.

    Forward, with an increasing schedule (`metrics.likelihood.ais_schedule`) and starts from p0: E w = Z, so
    log mean w underestimates log Z on average. Reverse, with the flipped schedule and starts from the target:
    E w = 1 / Z, so -log mean w overestimates it on average, provided that the starts are exact draws (Grosse,
    Ghahramani and Adams 2015). Temperatures may be repeated: with 1 repeated at the start of the reverse
    direction, the kernel moves the initial states before any weight changes.

    The cost is one evaluation of the initial states and one kernel step per temperature. Weights cost
    nothing: `AnnealedTarget` converts the cached log density and gradient from one temperature to the next.
    A kernel that caches more than these is initialised again at each temperature, which costs an evaluation.
    A chain that met NaN in a move has NaN as its log weight after the last step.
    Memory does not grow with the number of temperatures, and no step waits for the device. If the target is
    batch invariant, a seed's numbers do not depend on the other seeds in the batch.

    Args:
        target: on a discrete space; its parameters must not change during the annealing.
        kernel: the transition, see `check_transition`; its hyperparameters are the same at all temperatures.
        betas, generator: see `Annealing`.
        theta: initial states, ``(*seeds, chains, *event_shape)``.

    Attributes:
        evaluations: evaluations of the target per chain so far.

    Raises:
        ValueError: for a target or kernel that cannot be used (`check_transition`), or invalid `betas`.
    """

    def __init__(
        self, target: Target, kernel: Kernel, betas: Tensor, theta: Tensor, generator: Generator
    ) -> None:
        check_transition(target, kernel)
        super().__init__(betas, generator)
        _check_betas(self.betas)
        like = target.like()
        self.kernel, self.one = kernel.to(like), like.new_ones(())
        # At beta = 0 the cached values do not determine U, so the initial states are evaluated at betas[1].
        self.path = AnnealedTarget(target, reference_distribution(target), self.betas[0] or self.betas[1])
        self.evaluations = 1
        with torch.no_grad():
            self.state = self.kernel.init(self.path, theta.to(like, copy=True), self.one)
        self.log_weights = torch.zeros_like(self.state.log_prob, dtype=torch.float64)
        self.moves = torch.zeros_like(self.log_weights)  # of acceptances, in which a NaN stays

    @property
    def theta(self) -> Tensor:
        """Current states, ``(*seeds, chains, *event_shape)``."""
        return self.state.theta

    def _move(self, before: float, after: float) -> None:
        base, gap = self.path.split(self.state)
        self.log_weights.add_(gap, alpha=after - before)
        if self.step < self.steps:
            state = self._resampled(self._fresh(self.path.moved(self.state, base, gap, after)))
            self.state, info = self.kernel.step(self.path, state, self.one, self.generator)
            self.evaluations += info.evaluations
            self.moves += info.acceptance
        else:
            self.log_weights += 0.0 * self.moves

    def _resampled(self, state: State) -> State:
        """What is moved of a weighted `state`: here all of it."""
        return state

    def _fresh(self, state: State) -> State:
        """`state`, with its auxiliary variables recomputed at the path's temperature if they depend on it."""
        if any(tensor.is_floating_point() for tensor in state.aux.values()):
            self.evaluations += 1
            return self.kernel.refreshed(self.path, state, self.one)
        return state

    def _saved(self) -> dict[str, Any]:
        state = {name: tensor.clone() for name, tensor in self._tensors().items()}
        moves = self.moves.clone()
        return {"beta": self.path.beta, "evaluations": self.evaluations, "moves": moves, "state": state}

    def _restore(self, state: Mapping[str, Any]) -> None:
        own = {name: tensor.clone() for name, tensor in self._tensors().items()}
        if set(own) != set(state["state"]):
            raise ValueError("the saved annealing is from another kernel")
        for name, tensor in own.items():
            restore(name, tensor, state["state"][name])
        theta, log_prob, grad = own.pop("theta"), own.pop("log_prob"), own.pop("grad", None)
        self.state = State(theta, log_prob, grad, {name.removeprefix("aux."): own[name] for name in own})
        self.path.beta, self.evaluations = float(state["beta"]), int(state["evaluations"])
        restore("moves", self.moves, state.get("moves", torch.zeros_like(self.moves)))

    def _tensors(self) -> dict[str, Tensor]:
        """All tensors of the state by name."""
        state = self.state
        tensors = {"theta": state.theta, "log_prob": state.log_prob}
        if state.grad is not None:
            tensors["grad"] = state.grad
        return tensors | {f"aux.{name}": tensor for name, tensor in state.aux.items()}


def check_transition(target: Target, kernel: Kernel) -> None:
    """Refuses a target or kernel that annealed importance sampling cannot use, without an evaluation.

    Raises:
        ValueError: naming the target or kernel and the requirement.
    """
    reference = reference_distribution(target)
    if target.constrained:
        raise ValueError(
            "annealing needs a target with a positive density at every state, as its reference distribution "
            f"has; {type(target).__name__} is constrained"
        )
    check_annealing_kernel(kernel)
    kernel.check(target)
    try:
        kernel.check(AnnealedTarget(target, reference, 1.0))
    except ValueError as error:
        raise ValueError(
            f"annealing needs a kernel that serves mixtures of {type(target).__name__} with a reference "
            f"distribution; {type(kernel).__name__} serves the target alone"
        ) from error


def check_annealing_kernel(kernel: Kernel | Tunable) -> None:
    """Refuses a kernel that annealed importance sampling cannot use for any target.

    Raises:
        ValueError: naming the kernel and the requirement.
    """
    if isinstance(kernel, Tunable):
        raise _unfit(kernel.example, f"{' and '.join(kernel.open)} left to tuning")
    faults = {
        "several replicas": bool(kernel.axes),
        "chains that move between temperatures": kernel.has_levels,
        "an auxiliary variable, for which the reference distribution has no draws": bool(
            kernel.persistent_aux
        ),
        "transitions that do not leave the target invariant, so that the estimate would be biased": (
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
    """Refuses inverse temperatures that are not monotone from 0 to 1 or back."""
    rising = betas if betas[:1] == [0.0] else betas[::-1]
    monotone = all(before <= after for before, after in pairwise(rising))
    if len(betas) < 2 or rising[0] != 0 or rising[-1] != 1 or not monotone or rising[1] == 0:
        raise ValueError(
            "betas must be monotone from 0 to 1 or back, with 0 only once, "
            f"{betas if len(betas) < 8 else [*betas[:3], '...', *betas[-3:]]} was given"
        )
