"""The optimiser of a training: Adam with a learning-rate schedule and averaged parameters."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch

from runner.models.training_settings import TrainingSettings
from targets.target import Target


class Optimiser:
    """Adam on the parameters of `target`, with warm-up, decay, weight decay and averaging as in `settings`.

    The exponential moving average of iteration t has the decay min(averaging, (1 + t) / (10 + t)), so that
    the initial parameters have little weight.

    Args:
        target: its parameters are updated in place.
        settings: learning_rate, warm_up, learning_rate_decay, weight_decay, averaging, iterations.
    """

    def __init__(self, target: Target, settings: TrainingSettings) -> None:
        self.settings = settings
        self.parameters = list(target.parameters())
        matrices = [parameter for parameter in self.parameters if parameter.dim() > 1]
        others = [parameter for parameter in self.parameters if parameter.dim() <= 1]
        groups = [
            {"params": members, "weight_decay": decay}
            for members, decay in ((matrices, settings.weight_decay), (others, 0.0))
            if members
        ]
        self.adam = torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)
        self.average = [parameter.detach().clone() for parameter in self._averaged()]

    def zero_grad(self) -> None:
        """Resets the gradients."""
        self.adam.zero_grad()

    def rate(self, iteration: int) -> float:
        """The learning rate of an iteration, counted from 0: the product of warm-up and decay."""
        settings = self.settings
        rate = settings.learning_rate
        if iteration < settings.warm_up:
            rate *= (iteration + 1) / settings.warm_up
        if settings.learning_rate_decay == "linear":
            rate *= 1.0 - iteration / settings.iterations
        return rate

    @torch.no_grad()
    def step(self, iteration: int) -> None:
        """Updates parameters and average with the current gradients, in this iteration, counted from 0."""
        for group in self.adam.param_groups:
            group["lr"] = self.rate(iteration)
        self.adam.step()
        kept = min(self.settings.averaging, (1.0 + iteration) / (10.0 + iteration))
        for average, parameter in zip(self.average, self._averaged(), strict=True):
            average.lerp_(parameter, 1.0 - kept)

    @property
    def averaged(self) -> list[torch.Tensor]:
        """The averaged parameters; without averaging the parameters themselves."""
        return self.average or [parameter.detach() for parameter in self.parameters]

    @torch.no_grad()
    def load_averaged(self) -> None:
        """Copies the average, if there is one, into the parameters; idempotent."""
        for average, parameter in zip(self.average, self._averaged(), strict=True):
            parameter.copy_(average)

    def _averaged(self) -> list[torch.nn.Parameter]:
        return self.parameters if self.settings.averaging > 0 else []

    def state_dict(self) -> dict[str, Any]:
        return {
            "adam": copy.deepcopy(self.adam.state_dict()),
            "average": [average.clone() for average in self.average],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        self.adam.load_state_dict(saved["adam"])
        for average, value in zip(self.average, saved["average"], strict=True):
            average.copy_(value)
