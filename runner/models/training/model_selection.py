"""Validation at intervals of a training, and the averaged parameters with the best score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.errors import one_sentence
from runner.models.training.divergence_check import TrainingError
from runner.models.training.validation import Score, Validation, ValidationSettings
from runner.models.training_settings import TrainingSettings
from targets.target import Target


class ModelSelection:
    """Validates the averaged parameters as `settings` say, and stores those with the highest score.

    Of equal scores the first counts. Without `validate_every` nothing is validated or stored.

    Args:
        target: the model in training; it is copied.
        held_out: the validation images; None where there are none.
        settings: validate_every, iterations, cd_steps.
        scoring: settings of a validation.
        seed: of the validations.

    Attributes:
        validation: what validates; None without validations.
        scores: of all validations so far, in order.
        best: the highest score; None before the first validation.
        seconds: that the validations took.

    Raises:
        ValueError: if there are no validation images, or the target cannot be annealed.
    """

    def __init__(
        self,
        target: Target,
        held_out: Tensor | None,
        settings: TrainingSettings,
        scoring: ValidationSettings,
        seed: int,
    ) -> None:
        self.settings, self.seconds = settings, 0.0
        self.validation: Validation | None = None
        if settings.validate_every is not None:
            if held_out is None:
                raise ValueError(
                    "validate_every needs validation images, of which there are none, "
                    f"{settings.validate_every!r} was given"
                )
            self.validation = Validation(target, held_out, scoring, seed)
        self.scores: list[Score] = []
        self.best: Score | None = None
        self._parameters: list[Tensor] = []

    @property
    def underway(self) -> bool:
        """Whether a validation is running."""
        return self.validation is not None and self.validation.underway

    def begin_if_due(self, iteration: int, averaged: Sequence[Tensor]) -> None:
        """Starts a validation of the `averaged` parameters if one is due after `iteration` iterations."""
        every, last = self.settings.validate_every, iteration == self.settings.iterations
        if self.validation is not None and every is not None and (iteration % every == 0 or last):
            self.validation.begin(iteration, averaged)

    def advance(self, averaged: Sequence[Tensor], checkpoint: Path | None) -> None:
        """`cd_steps` temperatures of the validation; at its end the parameters are stored if they are best.

        Raises:
            TrainingError: if the validation fails or gives an impossible value.
        """
        assert self.validation is not None
        started, iteration = time.perf_counter(), self.validation.iteration
        try:
            score = self.validation.advance(self.settings.cd_steps)
        except ValueError as error:
            what = f"the validation has failed: {one_sentence(error)}"
            raise TrainingError(iteration, None, what, checkpoint) from error
        if score is not None:
            if score.log_likelihood > 0:
                what = (
                    f"the validation gives a mean log-likelihood of {score.log_likelihood:g} nats, above 0, "
                    "which no model of discrete data has"
                )
                raise TrainingError(iteration, None, what, checkpoint)
            self.scores.append(score)
            if self.best is None or score.log_likelihood > self.best.log_likelihood:
                self.best, self._parameters = score, [each.detach().clone() for each in averaged]
        self.seconds += time.perf_counter() - started

    def values_since(self, iteration: int) -> dict[str, float]:
        """What a record says of the last validation, if it was of a later iteration."""
        if not self.scores or self.scores[-1].iteration <= iteration:
            return {}
        last = self.scores[-1]
        return {
            "validation_log_likelihood": last.log_likelihood,
            "validation_log_likelihood_se": last.standard_error,
        }

    @torch.no_grad()
    def load_best(self, parameters: Sequence[Tensor]) -> None:
        """Copies the best parameters, if there are any, into `parameters`."""
        if self.best is not None:
            for parameter, value in zip(parameters, self._parameters, strict=True):
                parameter.copy_(value)

    def state_dict(self) -> dict[str, Any]:
        """A copy of the running validation, the scores and the best parameters."""
        best = {
            "scores": [asdict(score) for score in self.scores],
            "best": None if self.best is None else asdict(self.best),
            "parameters": [parameter.clone() for parameter in self._parameters],
        }
        validation = None if self.validation is None else self.validation.state_dict()
        return {"validation": validation, "best": best, "validation_seconds": self.seconds}

    def load_state_dict(self, saved: Mapping[str, Any], averaged: Sequence[Tensor], like: Tensor) -> None:
        """Continues with `saved`, its parameters on the device of `like`."""
        if self.validation is not None:
            self.validation.load_state_dict(saved["validation"], averaged)
        best = saved["best"]
        self.scores = [Score(**score) for score in best["scores"]]
        self.best = None if best["best"] is None else Score(**best["best"])
        self._parameters = [parameter.to(like.device) for parameter in best["parameters"]]
        self.seconds = float(saved["validation_seconds"])
