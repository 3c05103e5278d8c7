"""Annealings one after the other, that can be stopped anywhere and continued, and what they say."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from omegaconf import DictConfig
from torch import Tensor

from metrics.likelihood.importance_weights import Estimate
from runner.execution import signals
from runner.execution.atomic_files import set_aside
from runner.execution.checkpoint import UnusableCheckpointError, load, save
from runner.execution.errors import warn
from runner.execution.progress import current


class Walk(Protocol):
    """What an annealing of `metrics` is to the loop that runs it."""

    step: int
    log_weights: Tensor

    @property
    def steps(self) -> int:
        """Steps of the whole walk."""
        ...

    def advance(self, steps: int) -> None:
        """Walks so many steps further, or to the end if that comes first."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the walk needs."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`."""
        ...


def both_ends(
    forward: Estimate, reverse: Estimate, test: float, train: float, base: float
) -> dict[str, float]:
    """What is said of every model: log Z from both ends, and the likelihoods that follow from it.

    Args:
        forward, reverse: log Z.
        test, train: mean U of the test and of the training images, in nats.
        base: mean log-likelihood of the test images under the law that annealing starts from.
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
    """Named annealings of one job, with their checkpoint.

    Args:
        config: of the job; ``checkpoint.seconds`` says how often it is saved.
        checkpoint: the file.
        block: temperatures between two looks at progress, signals and the checkpoint.
    """

    def __init__(self, config: DictConfig, checkpoint: Path, block: int) -> None:
        self.checkpoint, self.block = checkpoint, block
        self.every, self.saved_at = config.checkpoint.seconds, time.monotonic()
        self.saved: dict[str, Any] = {}
        if checkpoint.exists():
            try:
                self.saved = dict(load(checkpoint)["annealings"])
            except (UnusableCheckpointError, KeyError, TypeError):
                warn(f"the checkpoint {checkpoint} cannot be used; it was moved to {set_aside(checkpoint)}.")

    def log_weights(self, name: str, begin: Callable[[], Walk]) -> Tensor:
        """The log weights at the end of the annealing `name`, which `begin` makes before its first step.

        Raises:
            Interrupted: if the process is told to stop; what was reached is in the checkpoint.
        """
        run = begin()
        if name in self.saved:
            try:
                run.load_state_dict(self.saved[name])
            except (KeyError, TypeError, ValueError, RuntimeError):
                warn(f"the checkpoint {self.checkpoint} cannot be used; the annealing {name} starts anew.")
                del self.saved[name]
                return self.log_weights(name, begin)
        begun, before = time.monotonic(), float(self.saved.get(f"{name}_seconds", 0.0))
        progress = current()
        progress.begin(f"AIS, {name}", run.steps, run.step)
        try:
            with signals.deferred():
                while run.step < run.steps:
                    run.advance(self.block)
                    progress.at(run.step)
                    due = time.monotonic() - self.saved_at >= self.every
                    if due or signals.wanted() or run.step >= run.steps:
                        self.saved[name] = run.state_dict()
                        self.saved[f"{name}_seconds"] = before + time.monotonic() - begun
                        save(self.checkpoint, {"annealings": self.saved})
                        self.saved_at = time.monotonic()
                    signals.obey()
        finally:
            progress.end()
        return run.log_weights

    def seconds(self) -> float:
        """What all annealings took, stretches before an interruption included."""
        return sum(float(value) for name, value in self.saved.items() if name.endswith("_seconds"))
