"""Validation during training: resumable annealed importance sampling of the averaged model."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.ais_schedule import FEWEST_STEPS, schedule
from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.target_annealing import TargetAnnealing, check_annealing_kernel, check_transition
from metrics.likelihood.target_log_partition import evenly, mean_log_prob
from samplers import DMALA, Kernel
from targets import Streams, Target
from targets.checks import whole_number
from targets.reference_distribution import reference_distribution

IMAGES = 10_000
"""Maximum number of held-out images that are scored, evenly spaced."""

STEP_SIZE = 0.15
"""Step size of DMALA, the default sampler (settings D.2)."""


@dataclass(frozen=True)
class ValidationSettings:
    """Settings of the estimate of log Z, by forward annealing from the reference distribution.

    Attributes:
        temperatures, schedule: arguments of `metrics.likelihood.ais_schedule.schedule`.
        chains: number of annealed chains.
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
        whole_number("chains", self.chains, 2)
        check_annealing_kernel(self.sampler)


@dataclass(frozen=True)
class Score:
    """The result of one validation.

    Attributes:
        iteration: number of training iterations of the model.
        log_likelihood: mean over the held-out images, in nats per image; overestimated on average, since
            forward annealing underestimates log Z.
        standard_error: of log Z, by the delta method.
    """

    iteration: int
    log_likelihood: float
    standard_error: float


class Validation:
    """Runs one validation after another on a copy of the model.

    The random numbers depend on the seed and the iteration only. A validation costs as many evaluations as
    there are temperatures, which can take minutes: it is divided into calls of `advance`, and continues bit
    for bit after it was saved.

    Args:
        target: the model in training; it is copied.
        images: held-out images, ``(images, *event_shape)``.
        settings: see `ValidationSettings`.
        seed: of the annealing.

    Raises:
        ValueError: for a target that cannot be annealed with the kernel.
    """

    def __init__(self, target: Target, images: Tensor, settings: ValidationSettings, seed: int) -> None:
        self.model = copy.deepcopy(target).requires_grad_(False)
        check_transition(self.model, settings.sampler)
        self.images, self.settings, self.seed = evenly(images, IMAGES), settings, seed
        self.betas = schedule(settings.temperatures, settings.schedule)
        self.iteration = 0
        self.annealing: TargetAnnealing | None = None

    @property
    def underway(self) -> bool:
        """Whether a validation has started and is not finished."""
        return self.annealing is not None

    @torch.no_grad()
    def begin(self, iteration: int, parameters: Sequence[Tensor]) -> TargetAnnealing:
        """Starts the annealing of the model with these `parameters`, after `iteration` iterations."""
        for own, value in zip(self.model.parameters(), parameters, strict=True):
            own.copy_(value)
        like = self.model.like()
        streams = Streams([self.seed], f"validation {iteration}", like.device)
        start = reference_distribution(self.model).draws((1, self.settings.chains), streams, like=like)
        self.iteration = iteration
        self.annealing = TargetAnnealing(self.model, self.settings.sampler, self.betas, start, streams)
        return self.annealing

    def advance(self, temperatures: int) -> Score | None:
        """Takes `temperatures` more steps of annealing; the score after the last one, else None.

        Raises:
            ValueError: if the importance weights are not finite.
        """
        assert self.annealing is not None, "begin() comes first"
        self.annealing.advance(temperatures)
        if self.annealing.step < self.annealing.steps:
            return None
        log_z = log_mean_weight(self.annealing.log_weights, self.seed)
        self.annealing = None
        mean = mean_log_prob(self.model, self.images)
        return Score(self.iteration, mean - log_z.value, log_z.standard_error)

    def state_dict(self) -> dict[str, Any]:
        """A copy of the state of the annealing."""
        return {
            "iteration": self.iteration,
            "walk": None if self.annealing is None else self.annealing.state_dict(),
        }

    def load_state_dict(self, saved: Mapping[str, Any], parameters: Sequence[Tensor]) -> None:
        """Continues the annealing in `saved`, of the model with these `parameters`."""
        self.iteration, self.annealing = int(saved["iteration"]), None
        if saved["walk"] is not None:
            self.begin(self.iteration, parameters).load_state_dict(saved["walk"])
