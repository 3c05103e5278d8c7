"""The interface of a target, an unnormalised log density on a space, and its optional capabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import torch
from torch import Tensor, nn

from targets.randomness import Generator
from targets.spaces import Space


class Target(nn.Module, ABC):
    """An unnormalised log density, called U in the papers: pi(theta) is proportional to exp(U(theta)).

    A subclass sets `space` and defines `log_prob`. It may define `log_prob_and_grad` where a closed form
    exists; by default autograd does it in one forward and one backward pass.
    """

    space: Space

    batch_invariant: bool = True
    """Whether results of a chain do not depend on the batch composition, to the last bit; false for targets
    with matrix products, whose rounding depends on the number of rows."""

    by_seed: tuple[str, ...] = ()
    """Where it is not `batch_invariant`: the methods from states ``(*batch, *event_shape)`` that have such a
    product. Seeds share a batch on the CPU if these are computed for each alone (`samplers.seed_blocks`)."""

    products_of_seeds: Mapping[str, str] = MappingProxyType({})
    """Of the methods `by_seed` that are such a product and nothing else: the name of one that takes states
    ``(seeds, chains, *event_shape)`` and makes a product for each seed in one call."""

    constrained: bool = False
    """Whether some states have density zero: U is minus infinity there, but its gradient is finite, and
    `initial` returns states of positive density. Kernels that never reject stay where they are instead of
    moving to a state of density zero."""

    block_gibbs: bool = False
    """Whether it has the units and tensors of an RBM (`targets.models.rbm`), so that block Gibbs anneals
    it for its likelihood and makes its reference sample."""

    def __init__(self) -> None:
        super().__init__()
        # Moved with the target, for one that has no tensors of its own; no buffer, which would be saved.
        self._empty = torch.empty(0)

    def _apply(self, function: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """What `to`, `double` and their like do to each tensor."""
        self._empty = function(self._empty)
        super()._apply(function, recurse)  # type: ignore[no-untyped-call]
        return self

    @abstractmethod
    def log_prob(self, theta: Tensor) -> Tensor:
        """U(theta): ``(*batch, *event_shape)`` to ``(*batch)``."""

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient: ``(*batch)`` and a tensor like `theta`, from one evaluation."""
        with torch.enable_grad():
            leaf = theta.detach().requires_grad_(True)
            log_prob = self.log_prob(leaf)
            (grad,) = torch.autograd.grad(log_prob.sum(), leaf)
        return log_prob.detach(), grad

    def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent starting states ``(*shape, *event_shape)``; uniform on discrete spaces."""
        return self.space.initial(shape, generator, like=self.like())

    def like(self) -> Tensor:
        """An empty tensor with the dtype and device that states of this target have."""
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                return tensor.new_empty(0)
        return self._empty


@runtime_checkable
class Enumerable(Protocol):
    """A target whose every state can be listed."""

    def probabilities(self) -> Tensor:
        """Exact probabilities of ``space.states()``, shape ``(size,)``, float64, summing to one."""


@runtime_checkable
class ExactlySampled(Protocol):
    """A target that can be sampled exactly."""

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, *event_shape)``."""


@runtime_checkable
class HasModes(Protocol):
    """A target whose modes are known."""

    if TYPE_CHECKING:  # a buffer, which `isinstance` does not find from Python 3.12 on
        modes: Tensor
        """The modes as states ``(modes, *event_shape)``."""

    def responsibilities(self, theta: Tensor) -> Tensor:
        """p(mode | theta), shape ``(*batch, modes)``, summing to one over the last axis."""


@runtime_checkable
class HasModeWeights(HasModes, Protocol):
    """A target with known modes and known probabilities of the modes."""

    def mode_weights(self) -> Tensor:
        """Expected responsibility of each mode under the target, shape ``(modes,)``, float64."""


@runtime_checkable
class Minibatched(Protocol):
    """A target whose log density can be estimated without bias from part of its data."""

    def noisy_log_prob(self, theta: Tensor, generator: Generator) -> Tensor:
        """An unbiased estimate of U(theta), shape ``(*batch)``; independent noise at every call."""

    def noise_variance(self, theta: Tensor) -> Tensor:
        """Variance of `noisy_log_prob`, shape ``(*batch)``."""


@runtime_checkable
class SingleSiteDifferences(Protocol):
    """A target whose changes of U by moves of one coordinate are exact and cheap, from one evaluation."""

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U ``(*batch)``, and U after one move minus U before it.

        The moves of bits are their flips: ``(*batch, d)``. Those of coordinates with levels set one of them
        to one level: ``(*batch, d, levels)``, with 0 at the level that it has. All are finite: of a move to a
        state of density zero a large negative number.
        """


@runtime_checkable
class FewDifferences(Protocol):
    """A target on bits, linear in each of them, whose changes of U by one flip may take few values."""

    def flip_differences(self) -> Tensor | None:
        """All values of U after a flip minus U before it, ascending, ``(m,)``; None where they are many."""


@dataclass(frozen=True, slots=True)
class PairwiseTerms:
    """The terms of U = constant + sum over edges of K_e 1{ends of e agree} + sum_i f_i(level of i).

    Attributes:
        edges: pairs of coordinates, ``(E, 2)``, int64; two edges may join the same pair.
        couplings: K of each edge, ``(E,)``; for spins -1 and 1 twice the J of J s_i s_j.
        field: f_i of each level, ``(d, levels)``.
        constant: a scalar.
    """

    edges: Tensor
    couplings: Tensor
    field: Tensor
    constant: Tensor


@runtime_checkable
class PairwiseInteractions(Protocol):
    """A target whose coordinates interact in pairs, and only by whether their levels agree."""

    def pairwise_terms(self) -> PairwiseTerms:
        """Its edges, couplings and fields, with its dtype and device."""


@runtime_checkable
class HasLogPartition(Protocol):
    """A target whose normalising constant is known at every inverse temperature."""

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum over all states of exp(beta U), a scalar, float64.

        Exact energies are its derivatives by `beta`, if autograd can take them: compute it with torch. Where
        `beta` becomes a number of Python or NumPy they are sums over the states, or unknown where those are
        too many.

        Raises:
            ValueError: if it is not known for this instance.
        """


@runtime_checkable
class HasMagnetisation(Protocol):
    """A target with an order parameter."""

    def magnetisation(self, theta: Tensor) -> Tensor:
        """The order parameter per site, from -1 to 1, ``(*batch)``."""


@runtime_checkable
class HasHessians(Protocol):
    """An enumerable target whose U has known second derivatives at every state."""

    def hessians(self) -> Tensor:
        """Hessians of U at ``space.states()``, shape ``(size, d, d)``, float64, symmetric."""


@runtime_checkable
class HasFlatStates(Protocol):
    """A target that declares some states to be flat modes and others to be sharp modes."""

    flat_states: Tensor
    """Distinct states ``(number, *event_shape)`` whose neighbours are about as probable as they are."""
    sharp_states: Tensor
    """Distinct states ``(number, *event_shape)`` that are much more probable than their neighbours."""
