"""State spaces: binary, ordinal, categorical (one-hot) and real.

A state is one floating-point tensor `theta` of shape ``(*batch, *space.event_shape)``; discrete states
hold whole numbers, so that gradients and differences need no conversion. `batch` is any number of
leading axes: replicas, seeds, chains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from targets.checks import whole_number
from targets.compiling.tracing import is_traced
from targets.randomness import Generator, normal, uniform
from targets.versions import changes


@dataclass(frozen=True)
class Space(ABC):
    """A space of states with `d` coordinates.

    Raises:
        ValueError: unless `d` is a whole number of at least 1.
    """

    d: int

    def __post_init__(self) -> None:
        whole_number("d", self.d)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Shape of one state."""
        return (self.d,)

    def batch_shape(self, theta: Tensor) -> torch.Size:
        """The shape of the leading axes of `theta`, without the event's."""
        return theta.shape[: theta.dim() - len(self.event_shape)]

    @abstractmethod
    def initial(self, shape: Sequence[int], generator: Generator, *, like: Tensor) -> Tensor:
        """Independent starting states ``(*shape, *event_shape)``: uniform; standard normal on the reals."""


@dataclass(frozen=True)
class Discrete(Space):
    """A finite product space whose coordinates take the levels ``0 .. levels - 1``."""

    levels: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("levels", self.levels, 2)

    @property
    def size(self) -> int:
        """Number of states, ``levels ** d``."""
        return int(self.levels**self.d)

    def to_levels(self, theta: Tensor) -> Tensor:
        """Whole-number levels ``(*batch, d)`` (int64) of the states `theta`."""
        return theta.long()

    def from_levels(self, levels: Tensor, dtype: torch.dtype) -> Tensor:
        """States of the given floating-point `dtype` from levels ``(*batch, d)``."""
        return levels.to(dtype)

    def index(self, theta: Tensor) -> Tensor:
        """Index of each state in `states()`, shape ``(*batch)``, int64; the last coordinate runs fastest.

        Kernel, target and metrics ask for that of the same states in turn, and get the same tensor, which
        none of them may change. States over the memory of NumPy are looked up anew each time, since nothing
        tells of their changes; those written to through ``theta.data`` must be a new tensor.
        """
        count = None if is_traced() else changes(theta)
        if count is None:
            return self._index(theta)
        known: tuple[Tensor, int, Tensor] | None = self.__dict__.get("_known")
        if known is None or known[0] is not theta or known[1] != count:
            known = theta, count, self._index(theta)
            self.__dict__["_known"] = known  # a frozen dataclass, whose fields these are not
        return known[2]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_known"}

    def _index(self, theta: Tensor) -> Tensor:
        place, *others = self.to_levels(theta).unbind(-1)
        for level in others:
            place = torch.add(level, place, alpha=self.levels)
        return place

    def states(self, dtype: torch.dtype = torch.float64) -> Tensor:
        """All states ``(size, *event_shape)``, the last coordinate running fastest.

        Raises:
            ValueError: if there are more than 2**22 of them.
        """
        if self.size > 2**22:
            raise ValueError(f"{self.size} states are too many to enumerate; the limit is {2**22}")
        return self.at(torch.arange(self.size), dtype)

    def at(self, index: Tensor, dtype: torch.dtype) -> Tensor:
        """The states ``(*batch, *event_shape)`` at each `index` ``(*batch)`` of `states()`."""
        place_values = self.levels ** torch.arange(self.d - 1, -1, -1, device=index.device)
        return self.from_levels(index.unsqueeze(-1) // place_values % self.levels, dtype)

    def contains(self, theta: Tensor) -> Tensor:
        """Whether each `theta` is a state of this space, shape ``(*batch)``, bool."""
        return ((theta == theta.round()) & (theta >= 0) & (theta < self.levels)).all(-1)

    def outsider(self, theta: Tensor) -> list[float] | None:
        """The first numbers of the first of `theta` that is no state; None where all are. The host waits."""
        outside = ~self.contains(theta)
        return theta[outside][0].flatten()[:8].tolist() if bool(outside.any()) else None

    def hamming(self, a: Tensor, b: Tensor) -> Tensor:
        """Number of coordinates in which two states differ, shape ``(*batch)``, in the states' dtype."""
        return (a != b).sum(-1, dtype=a.dtype)

    def initial(self, shape: Sequence[int], generator: Generator, *, like: Tensor) -> Tensor:
        draws = uniform(generator, shape, (self.d,), like=like)
        return self.from_levels((draws * self.levels).long().clamp_(max=self.levels - 1), like.dtype)


@dataclass(frozen=True)
class Binary(Discrete):
    """``{0, 1}^d``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels != 2:
            raise ValueError(f"a binary space has two levels, levels={self.levels} was given")


@dataclass(frozen=True)
class Ordinal(Discrete):
    """``{0, .., levels - 1}^d`` with ordered levels, whose distance is meaningful."""


@dataclass(frozen=True)
class Categorical(Discrete):
    """`d` one-hot vectors of length `levels`: states of shape ``(*batch, d, levels)``."""

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.d, self.levels)

    def to_levels(self, theta: Tensor) -> Tensor:
        return theta.argmax(-1)

    def from_levels(self, levels: Tensor, dtype: torch.dtype) -> Tensor:
        # one_hot of torch.nn.functional checks its input on the host. On CUDA devices TorchInductor 2.11 gave
        # scattered ones in float32 where float64 was asked for.
        if is_traced():
            return (levels.unsqueeze(-1) == torch.arange(self.levels, device=levels.device)).to(dtype)
        zeros = torch.zeros((*levels.shape, self.levels), dtype=dtype, device=levels.device)
        return zeros.scatter_(-1, levels.unsqueeze(-1), 1.0)

    def contains(self, theta: Tensor) -> Tensor:
        zero_or_one = ((theta == 0) | (theta == 1)).all(-1)
        return (zero_or_one & (theta.sum(-1) == 1)).all(-1)

    def hamming(self, a: Tensor, b: Tensor) -> Tensor:
        return (a != b).any(-1).sum(-1, dtype=a.dtype)


@dataclass(frozen=True)
class Real(Space):
    """``R^d``."""

    def initial(self, shape: Sequence[int], generator: Generator, *, like: Tensor) -> Tensor:
        return normal(generator, shape, (self.d,), like=like)


def discrete_space(name: str, space: Space) -> Discrete:
    """`space`, for a kernel called `name` that needs coordinates with levels.

    Raises:
        ValueError: if they have none.
    """
    if isinstance(space, Discrete):
        return space
    raise ValueError(f"{name} needs a binary, ordinal or categorical space, not {space}")


def level_space(name: str, space: Space) -> Discrete:
    """`space`, for a kernel called `name` that changes each coordinate's level by itself.

    Raises:
        ValueError: if a coordinate cannot have any level whatever the others have, as in tours.
    """
    if isinstance(space, (Binary, Ordinal, Categorical)):
        return space
    raise ValueError(f"{name} needs a binary, ordinal or categorical space, not {space}")


def real_space(name: str, space: Space) -> Real:
    """`space`, for a kernel called `name` that needs coordinates on the reals.

    Raises:
        ValueError: if it is discrete.
    """
    if isinstance(space, Real):
        return space
    raise ValueError(f"{name} needs a real space, not {space}")
