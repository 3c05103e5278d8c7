"""Chains that anneal along a sequence of inverse temperatures, a step at a time, and can be saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from metrics.metric import restore
from targets.randomness import Generator, Streams


class Annealing(ABC):
    """Annealed importance sampling in progress.

    Args:
        betas: inverse temperatures in the order in which they are used, ``(steps + 1,)``.
        generator: streams with one entry per seed, or one generator.

    Attributes:
        step: number of steps done, out of `steps`.
        log_weights: log weight of each chain so far, ``(*seeds, chains)``, float64.
    """

    log_weights: Tensor

    def __init__(self, betas: Tensor, generator: Generator) -> None:
        self.betas: list[float] = betas.tolist()
        self.generator = generator
        self.step = 0

    @property
    def steps(self) -> int:
        """Total number of steps: one less than the number of inverse temperatures."""
        return len(self.betas) - 1

    @torch.no_grad()
    def advance(self, steps: int) -> None:
        """Takes `steps` more steps, or as many as are left."""
        for _ in range(min(steps, self.steps - self.step)):
            before, after = self.betas[self.step : self.step + 2]
            self.step += 1
            self._move(before, after)

    @abstractmethod
    def _move(self, before: float, after: float) -> None:
        """Weighs the states for the change of temperature and moves them at the new one."""

    @abstractmethod
    def _saved(self) -> dict[str, Any]:
        """Copies of the states, and of what else a subclass needs."""

    @abstractmethod
    def _restore(self, state: Mapping[str, Any]) -> None:
        """Puts back what `_saved` gave."""

    def state_dict(self) -> dict[str, Any]:
        """Copies of everything that the remaining steps need, random number generators included."""
        generator = self.generator
        return {
            "betas": torch.tensor(self.betas, dtype=torch.float64),
            "step": self.step,
            "log_weights": self.log_weights.clone(),
            "generator": generator.state_dict() if isinstance(generator, Streams) else generator.get_state(),
            **self._saved(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict` of the same annealing, bit for bit.

        Raises:
            ValueError: if it comes from other temperatures, seeds, chains or another kernel.
        """
        if state["betas"].tolist() != self.betas:
            raise ValueError("the saved annealing has other temperatures than this one")
        self._restore(state)
        restore("log_weights", self.log_weights, state["log_weights"])
        if isinstance(self.generator, Streams):
            self.generator.load_state_dict(state["generator"])
        else:
            self.generator.set_state(state["generator"])
        self.step = int(state["step"])
