"""The scores of the validations of a training, and the parameters with the best score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from runner.models.training.validation import Score


class BestModel:
    """Stores the parameters with the highest score, the first of equal ones.

    Attributes:
        scores: of all validations so far, in order.
        best: the highest score; None before the first validation.
        parameters: the parameters with this score.
    """

    def __init__(self) -> None:
        self.scores: list[Score] = []
        self.best: Score | None = None
        self.parameters: list[Tensor] = []

    def update(self, score: Score, parameters: Sequence[Tensor]) -> None:
        """Adds a score, and stores the parameters if it is the best so far."""
        self.scores.append(score)
        if self.best is None or score.log_likelihood > self.best.log_likelihood:
            self.best, self.parameters = score, [parameter.detach().clone() for parameter in parameters]

    @torch.no_grad()
    def load_best(self, parameters: Sequence[Tensor]) -> None:
        """Copies the best parameters, if there are any, into `parameters`."""
        if self.best is not None:
            for parameter, value in zip(parameters, self.parameters, strict=True):
                parameter.copy_(value)

    def state_dict(self) -> dict[str, Any]:
        """A copy of scores and parameters."""
        return {
            "scores": [asdict(score) for score in self.scores],
            "best": None if self.best is None else asdict(self.best),
            "parameters": [parameter.clone() for parameter in self.parameters],
        }

    def load_state_dict(self, saved: Mapping[str, Any], like: Tensor) -> None:
        """Continues with `saved`, its parameters on the device of `like`."""
        self.scores = [Score(**score) for score in saved["scores"]]
        self.best = None if saved["best"] is None else Score(**saved["best"])
        self.parameters = [parameter.to(like.device) for parameter in saved["parameters"]]
