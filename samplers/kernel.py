"""The contract of a transition kernel: pure `init` and `step`, everything it remembers in its state."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from torch import Tensor

from samplers.moved_copy import moved_copy
from samplers.served import PreparedTarget, of_a_target
from targets.checks import described
from targets.randomness import Generator
from targets.spaces import Discrete, Ordinal
from targets.target import Target


@dataclass(frozen=True, slots=True)
class State:
    """The state of a batch of chains, with all that the next step would otherwise compute again.

    Attributes:
        theta: states ``(*batch, *event_shape)``.
        log_prob: U(theta), ``(*batch)``; untempered, so that a swap moves it with theta.
        grad: gradient of U, like `theta`; None for kernels that use no gradient.
        aux: a kernel's own tensors. One that begins with the batch's axes (an auxiliary variable, a count, a
            replica label) belongs to each chain and goes where its theta goes; any other (the position in a
            cycle, whose turn it is) is shared by all chains.
        cached_by: whose caches are among them (`samplers.served.CacheMark`); None: nobody's. A
            checkpoint does not have it: a run is taken up by the same kernel, prepared anew.
    """

    theta: Tensor
    log_prob: Tensor
    grad: Tensor | None = None
    aux: Mapping[str, Tensor] = field(default_factory=dict)
    cached_by: str | None = field(default=None, metadata={"saved": False})


@dataclass(frozen=True, slots=True)
class SwapInfo:
    """What one round of swaps did, for K replicas.

    Attributes:
        probability: Metropolis probability of a swap of each neighbouring pair, ``(K - 1, *batch)``, whatever
            rule and intensity are in force, as the communication barrier needs it.
        attempted: whether the pair met in this round, ``(K - 1, *batch)``, bool.
        accepted: whether it swapped, ``(K - 1, *batch)``, bool.
        replica: which replica stands on each rung after the round, ``(K, *batch)``, int64.
    """

    probability: Tensor
    attempted: Tensor
    accepted: Tensor
    replica: Tensor


@dataclass(frozen=True, slots=True)
class Info:
    """What one step did, per chain; tensors, but for the number of evaluations.

    Attributes:
        acceptance: probability that the proposal is accepted, ``(*batch)``; 1 if nothing is rejected.
        jump: number of coordinates that changed (Hamming; Euclidean length on the reals), ``(*batch)``.
        evaluations: evaluations of the target per chain in this step, all replicas counted.
        swap: the swaps of a tempered kernel.
        level: level of each chain after the step, 0 the cold one, ``(*batch)``, int64, where chains move
            between temperatures (`Kernel.has_levels`): only at level 0 is a draw one from the target.
        aux: auxiliary variables of the draws after the step, by the kernel's own names, ``(*batch, ...)``.
        rungs: acceptance probability of the move on every rung of a ladder, cold first, ``(K, *batch)``.
        hot_jump: `jump` of the move on the hottest rung, before the swaps, ``(*batch)``.
        slopes: U after the step on every rung, cold first, ``(K, *batch)``: the slope of the path there.
    """

    acceptance: Tensor
    jump: Tensor
    evaluations: int
    swap: SwapInfo | None = None
    level: Tensor | None = None
    aux: Mapping[str, Tensor] = field(default_factory=dict)
    rungs: Tensor | None = None
    hot_jump: Tensor | None = None
    slopes: Tensor | None = None


class NotEnumerableError(ValueError):
    """The transitions of a kernel on a target cannot be listed; the message says why in one sentence."""


class Kernel(ABC):
    """A Markov transition kernel for exp(beta * log_prob).

    Attributes:
        exact: whether the kernel provably leaves exp(beta * log_prob) invariant, which the tests check.
        axes: leading axes that the kernel adds to a run's batch: ``()``, or ``(K,)`` for a ladder of K.
        has_levels: whether each chain moves between temperatures, so that its draws are from the target only
            at the cold level, as `Info.level` says step by step.
        draws_target: whether the states of its chains are draws, exact or approximate, from the target; not
            where they depend on a schedule, as in simulated annealing.
        step_name: the constructor's argument that says how far a step goes, which tuning finds.
        tensor_step_size: whether that may be a tensor that broadcasts over the batch axes, so that tuning and
            tempering can give each chain its own (`samplers.tuning`).
        temperable: whether it serves inverse temperatures other than 1.
        optimal_acceptance: the mean acceptance probability that an automatic step size aims at by default;
            0.574 is optimal for Langevin proposals in high dimension (Roberts and Rosenthal 1998).
        prepared_target: the only target that a prepared kernel serves; None: every target.
    """

    exact: bool = False
    axes: tuple[int, ...] = ()
    has_levels: bool = False
    draws_target: bool = True
    step_name: ClassVar[str] = "step_size"
    tensor_step_size: ClassVar[bool] = True
    temperable: ClassVar[bool] = True
    optimal_acceptance: ClassVar[float] = 0.574
    prepared_target: PreparedTarget | None = None

    def __init_subclass__(cls, **given: Any) -> None:
        """Lets `init` and `step` refuse what is no target, or not the one that they were prepared for."""
        super().__init_subclass__(**given)
        for name in ("init", "step"):
            if name in vars(cls):
                setattr(cls, name, of_a_target(vars(cls)[name]))

    @property
    def persistent_aux(self) -> tuple[str, ...]:
        """Names of floating-point auxiliaries that belong to a chain's state: `init` cannot restore them."""
        return ()

    @property
    def needs_gradient(self) -> bool:
        """Whether it asks the target for gradients."""
        return False

    def step_size_range(self, target: Target) -> tuple[float, float]:
        """The step sizes worth trying: from nearly frozen to nearly uniform, in the kernel's own unit.

        Here squared state units, as of Langevin proposals: another level of a bit is at squared distance 1,
        of a one-hot coordinate at 2, of an ordinal one at up to (levels - 1)^2. At the last, where an ordinal
        range ends, the farthest level has 0.6 times the weight of the nearest: on many levels nearly uniform,
        on two of them not.
        """
        space = target.space
        if isinstance(space, Ordinal):
            return 0.05, float(space.levels - 1) ** 2
        return (0.02, 20.0) if isinstance(space, Discrete) else (1e-4, 1e2)

    def check(self, target: Target) -> None:  # noqa: B027 - most kernels serve every target
        """Raises ValueError, in one sentence, if the kernel cannot serve this target; evaluates nothing."""

    @abstractmethod
    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        """The state of chains that stand at `theta`, ``(*axes, *batch, *event_shape)``."""

    def start(self, target: Target, theta: Tensor, beta: Tensor, generator: Generator) -> State:
        """The state of chains that begin at `theta`: that of `init`, with what is random in it drawn.

        Raises:
            ValueError: if `theta` are no states of the target, where chains would stay without a word.
        """
        space = getattr(target, "space", None)
        if isinstance(space, Discrete):
            check_states(target, theta)
            if first := space.outsider(theta):
                raise ValueError(f"states must lie in the space {space}, {first} was given")
        return self.drawn(self.init(target, theta, beta), generator)

    def drawn(self, state: State, generator: Generator) -> State:
        """`state` with its random auxiliaries drawn anew, from their distribution given theta.

        `init` leaves them at some value, since it has no random numbers; a chain that began there would take
        long to forget it. A kernel around another one passes this on.
        """
        return state

    @abstractmethod
    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        """One transition of every chain. `beta` broadcasts over the batch axes of ``state.log_prob``."""

    def refreshed(self, target: Target, state: State, beta: Tensor) -> State:
        """`state` at the same theta, evaluated anew: what is cached is stale once the target was changed.

        Integer auxiliaries (position in a cycle, turn, replica labels) and those in `persistent_aux` stay;
        all others come from `init`. Costs what `init` costs.
        """
        anew = self.init(target, state.theta, beta)
        kept = {
            name: value
            for name, value in state.aux.items()
            if name in self.persistent_aux or not value.is_floating_point()
        }
        return replace(anew, aux={**anew.aux, **kept})

    def draws(self, state: State) -> Tensor:
        """The draws from the target itself, ``(*batch, *event_shape)``: the cold replica's in a ladder."""
        return state.theta

    def to(self, like: Tensor) -> Self:
        """A copy whose hyperparameters have the dtype and device of `like`, so that no step copies them."""
        return moved_copy(self, like)

    def specialised(self, target: Target) -> Self:
        """A kernel with the same distribution that is faster on this target at every beta, if there is one.

        It refuses other targets; its states are those of this kernel.
        """
        return self

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """A kernel with the same distribution that is faster on this target at this `beta`, if there is one.

        It refuses other targets. Its states may have caches that are true for it alone, and another prepared
        kernel refuses them: to go on with a state of another kernel, call `refreshed`. What neither sees is a
        target whose parameters change in place.

        Args:
            beta: a scalar, or ``(K,)`` for a ladder along the first batch axis.
        """
        return self

    def prepared_copy(self, target: Target, **parts: Any) -> Self:
        """A copy for `target` alone, with `parts` as its attributes of these names: what `prepared` gives."""
        faster = copy.copy(self)
        vars(faster).update(parts, prepared_target=PreparedTarget(target))
        return faster


def require_kernel(given: object) -> None:
    """Raises TypeError, in one sentence, unless a kernel of numbers was given."""
    if not isinstance(given, Kernel):
        tune = ", which must be tuned first: kernel.tuned(target, generator)"
        tune = tune if hasattr(given, "tuned") else ""
        raise TypeError(
            "kernel must be a samplers.Kernel such as DMALA(step_size=0.4), "
            f"{described(given)} was given{tune}"
        )


def evaluate(target: Target, theta: Tensor, *, gradient: bool) -> State:
    """The state at `theta` ``(*batch, *event_shape)``, checked, from one evaluation of the target."""
    check_states(target, theta)
    if gradient:
        log_prob, grad = target.log_prob_and_grad(theta)
        return State(theta, log_prob, grad)
    return State(theta, target.log_prob(theta))


def check_states(target: Target, theta: Tensor) -> None:
    """Raises ValueError if `theta` is no states of the target: another shape, or whole numbers by type."""
    event = target.space.event_shape
    if not theta.is_floating_point() or theta.shape[theta.dim() - len(event) :] != event:
        raise ValueError(
            f"states must be floating-point numbers of shape (*batch, {', '.join(map(str, event))}), "
            f"{theta.dtype} of shape {tuple(theta.shape)} was given"
        )
