"""Validation while a model learns: annealed importance sampling of its average, which can stop and go on."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.ais_schedule import FEWEST_STEPS, schedule
from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.target_annealing import TargetAnnealing, check_kernel, check_transition
from metrics.likelihood.target_log_partition import mean_log_prob
from samplers.discrete.dmala import DMALA
from samplers.hyperparameters import count
from samplers.kernel import Kernel
from targets.randomness import Streams
from targets.reference_distribution import base_law
from targets.target import Target

IMAGES = 10_000
"""How many held-out images are scored at most: the first ones."""

STEP_SIZE = 0.15
"""Of DMALA, where no sampler is given (experiments D.2)."""


@dataclass(frozen=True)
class ValidationSettings:
    """How log Z is estimated at each validation, by forward annealing from the base law.

    Attributes:
        temperatures, schedule: as `metrics.likelihood.ais_schedule.schedule` takes them.
        chains: how many walk.
        sampler: an exact kernel on single states with given hyperparameters.

    Raises:
        ValueError: naming the key, the value given and what is allowed.
    """

    temperatures: int | Sequence[float] = 10_000
    schedule: str = "linear"
    chains: int = 100
    sampler: Kernel = field(default_factory=lambda: DMALA(STEP_SIZE))

    def __post_init__(self) -> None:
        schedule(self.temperatures, self.schedule, FEWEST_STEPS)
        count("chains", self.chains, 2)
        check_kernel(self.sampler)


@dataclass(frozen=True)
class Score:
    """What one validation found.

    Attributes:
        iteration: how many iterations the model had learned.
        log_likelihood: mean over the held-out images, in nats an image; on average too high, as forward
            annealing is.
        standard_error: that of log Z, by the delta method.
    """

    iteration: int
    log_likelihood: float
    standard_error: float


class Validation:
    """The walk behind one validation after another, on a copy of the model.

    Its random numbers come from the seed and the iteration, so that a walk is the same whenever it is made.
    A walk costs as many evaluations as there are temperatures, which may be minutes: it goes on in pieces,
    and a saved one continues bit for bit.

    Args:
        target: the model that learns; copied.
        images: held-out ones, ``(images, *event_shape)``.
        settings: see `ValidationSettings`.
        seed: of the walks.

    Raises:
        ValueError: for a target that cannot be annealed with the kernel.
    """

    def __init__(self, target: Target, images: Tensor, settings: ValidationSettings, seed: int) -> None:
        self.model = copy.deepcopy(target).requires_grad_(False)
        check_transition(self.model, settings.sampler)
        self.images, self.settings, self.seed = images[:IMAGES], settings, seed
        self.betas = schedule(settings.temperatures, settings.schedule)
        self.iteration = 0
        self.walk: TargetAnnealing | None = None

    @property
    def underway(self) -> bool:
        """Whether a walk has begun that is not scored yet."""
        return self.walk is not None

    @torch.no_grad()
    def begin(self, iteration: int, parameters: Sequence[Tensor]) -> TargetAnnealing:
        """Begins the walk of a model that has these `parameters` after so many iterations."""
        for own, value in zip(self.model.parameters(), parameters, strict=True):
            own.copy_(value)
        like = self.model.like()
        streams = Streams([self.seed], f"validation {iteration}", like.device)
        start = base_law(self.model).draws((1, self.settings.chains), streams, like=like)
        self.iteration = iteration
        self.walk = TargetAnnealing(self.model, self.settings.sampler, self.betas, start, streams)
        return self.walk

    def advance(self, temperatures: int) -> Score | None:
        """Walks so many temperatures further; at the end, the score.

        Raises:
            ValueError: if the weights of the walk are not finite.
        """
        assert self.walk is not None, "begin() comes first"
        self.walk.advance(temperatures)
        if self.walk.step < self.walk.steps:
            return None
        log_z = log_mean_weight(self.walk.log_weights, self.seed)
        self.walk = None
        mean = mean_log_prob(self.model, self.images)
        return Score(self.iteration, mean - log_z.value, log_z.standard_error)

    def state_dict(self) -> dict[str, Any]:
        """A copy of where the walk stands."""
        return {
            "iteration": self.iteration,
            "walk": None if self.walk is None else self.walk.state_dict(),
        }

    def load_state_dict(self, saved: Mapping[str, Any], parameters: Sequence[Tensor]) -> None:
        """Continues the walk that `saved` holds, of the model with these `parameters`."""
        self.iteration, self.walk = int(saved["iteration"]), None
        if saved["walk"] is not None:
            self.begin(self.iteration, parameters).load_state_dict(saved["walk"])
