"""Annealings one after the other as resumable work, and the values that follow from both ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from torch import Tensor

from metrics.likelihood.importance_weights import Estimate
from runner.execution.errors import DivergenceError


class Walk(Protocol):
    """What `Annealings` needs of an annealing."""

    @property
    def log_weights(self) -> Tensor:
        """The log weight of each chain so far."""
        ...

    @property
    def step(self) -> int:
        """Steps that are done."""
        ...

    @property
    def steps(self) -> int:
        """Steps of the whole walk."""
        ...

    @property
    def evaluations(self) -> int:
        """Evaluations of the target per chain so far, that of the initial states counted."""
        ...

    def advance(self, steps: int) -> None:
        """Walks so many steps further, or to the end if that comes first."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the walk needs."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        """Continues from a `state_dict`."""
        ...


class Likelihood(NamedTuple):
    """What annealings say of a model, and what they cost.

    Attributes:
        values: by name.
        evaluations: `Annealings.evaluations`.
        earlier_seconds: `Annealings.earlier_seconds`.
    """

    values: dict[str, float]
    evaluations: int
    earlier_seconds: float


def both_ends(
    forward: Estimate, reverse: Estimate, test: float, train: float, base: float
) -> dict[str, float]:
    """The values of every model: log Z from both ends, and the likelihoods that follow from it.

    Args:
        forward, reverse: log Z.
        test, train: mean U of the test and of the training images, in nats.
        base: mean log-likelihood of the test images under the distribution that annealing starts from.
    """
    return {
        "log_z": forward.value,
        "log_z_se": forward.standard_error,
        "log_z_low": forward.low,
        "log_z_high": forward.high,
        "ais_ess": forward.effective_sample_size,
        "log_z_reverse": reverse.value,
        "log_z_reverse_se": reverse.standard_error,
        "log_z_reverse_low": reverse.low,
        "log_z_reverse_high": reverse.high,
        "ais_ess_reverse": reverse.effective_sample_size,
        "log_likelihood": test - forward.value,
        "log_likelihood_reverse": test - reverse.value,
        "log_likelihood_train": train - forward.value,
        "log_likelihood_base": base,
    }


class Annealings:
    """Named annealings, walked one after the other; a `runner.files.resumable.Resumable`.

    Args:
        begin: gives each walk before its first step, by name, in the order in which they are walked.
        steps: of all walks together.
        block: steps between two looks at progress, signals and the checkpoint.
        title: what the walks are called where their progress is told.

    Attributes:
        seconds: that the walks took, also before an interruption.
        earlier_seconds: those of them before the last interruption, which a clock of this attempt has not.
    """

    def __init__(
        self,
        begin: Mapping[str, Callable[[], Walk]],
        steps: int,
        block: int,
        title: str = "annealed importance sampling",
    ) -> None:
        self.begin, self.total, self.block, self.title = begin, steps, block, title
        self.walks: dict[str, Walk] = {}
        self.seconds = self.earlier_seconds = 0.0

    @property
    def position(self) -> int:
        """Steps of all walks that are done."""
        return sum(walk.step for walk in self.walks.values())

    @property
    def evaluations(self) -> int:
        """Evaluations of the target by one chain of each walk together."""
        return sum(walk.evaluations for walk in self.walks.values())

    @property
    def done(self) -> bool:
        """Whether the last walk is at its end."""
        return self._unfinished() is None

    def _unfinished(self) -> str | None:
        names = (name for name in self.begin if name not in self.walks or not _at_end(self.walks[name]))
        return next(names, None)

    def advance(self) -> None:
        """A block of the first walk that is not at its end.

        Raises:
            DivergenceError: if log weights at the end of a walk are not finite, saying how many.
        """
        name, started = self._unfinished(), time.monotonic()
        if name is None:
            return
        if name not in self.walks:
            self.walks[name] = self.begin[name]()
        walk = self.walks[name]
        walk.advance(self.block)
        self.seconds += time.monotonic() - started
        if _at_end(walk):
            _check_finite(name, walk.log_weights)

    def state_dict(self) -> dict[str, Any]:
        """The walks that have started, and their time."""
        walks = {name: walk.state_dict() for name, walk in self.walks.items()}
        return {"annealings": walks, "seconds": self.seconds}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues where `saved` was."""
        for name, state in saved["annealings"].items():
            self.walks[name] = self.begin[name]()
            self.walks[name].load_state_dict(state)
        self.seconds = self.earlier_seconds = float(saved["seconds"])


def _at_end(walk: Walk) -> bool:
    return walk.step >= walk.steps


def _check_finite(name: str, weights: Tensor) -> None:
    bad = int((~weights.isfinite()).sum())
    if bad:
        raise DivergenceError(
            f"AIS, {name}: {bad} of {weights.numel()} weights are not finite, "
            "since the model's energies overflow."
        )
