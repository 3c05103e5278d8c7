"""Fits a small network to data, epoch by epoch, so that it can be stopped and taken up again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from samplers.hyperparameters import count, is_number
from targets.randomness import derive_seed

Loss = Callable[[Tensor], Tensor]
"""Takes the places of a batch, ``(batch,)``, and gives the mean loss on it."""


@dataclass(frozen=True)
class FitSettings:
    """How a network is fitted: Adam (Kingma and Ba 2015), so many passes over the data.

    Raises:
        ValueError: naming the setting that is refused.
    """

    epochs: int
    batch: int
    learning_rate: float

    def __post_init__(self) -> None:
        count("epochs", self.epochs)
        count("batch", self.batch)
        rate = self.learning_rate
        if not is_number(rate) or not math.isfinite(rate) or rate <= 0:
            raise ValueError(f"learning_rate must be a positive number, {rate!r} was given")


def built(build: Callable[[], nn.Module], seed: int, dtype: torch.dtype, device: torch.device) -> nn.Module:
    """The network of `build` with weights drawn from `seed`, the same on every device.

    Weights and biases are uniform within 1 / sqrt(fan-in), as PyTorch draws them by default.
    """
    with torch.device("meta"):
        network = build()
    network = network.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(derive_seed(seed, "weights"))
    with torch.no_grad():
        for module in network.modules():
            own = dict(module.named_parameters(recurse=False))
            bound = 1 / math.sqrt(own["weight"][0].numel()) if own else 0.0
            for parameter in own.values():
                parameter.copy_(torch.empty(parameter.shape).uniform_(-bound, bound, generator=generator))
    return network.to(device=device, dtype=dtype)


class Fit:
    """A network on its way.

    Args:
        network: what is fitted.
        loss: of a batch of examples.
        examples: how many there are.
        settings: how.
        seed: of the order of the examples, another in every epoch.

    Attributes:
        epoch: passes that are done.
        seconds: what they took.
        loss: mean loss over the last pass; NaN before the first.
    """

    def __init__(
        self, network: nn.Module, loss: Loss, examples: int, settings: FitSettings, seed: int
    ) -> None:
        self.network, self.settings, self.seed = network, settings, seed
        self._loss, self._examples = loss, examples
        self._adam = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        self.epoch, self.seconds, self.loss = 0, 0.0, math.nan

    def advance(self) -> None:
        """One pass over all examples; the last batch may be smaller."""
        begun = time.monotonic()
        generator = torch.Generator().manual_seed(derive_seed(self.seed, f"order/{self.epoch}"))
        total = torch.zeros((), dtype=torch.float64, device=next(self.network.parameters()).device)
        for places in torch.randperm(self._examples, generator=generator).split(self.settings.batch):
            self._adam.zero_grad()
            loss = self._loss(places)
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            self._adam.step()
            total += loss.detach().double() * len(places)
        self.epoch, self.loss = self.epoch + 1, float(total) / self._examples
        self.seconds += time.monotonic() - begun

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the fit depends on."""
        return {
            "network": self.network.state_dict(),
            "adam": self._adam.state_dict(),
            "epoch": self.epoch,
            "seconds": self.seconds,
            "loss": self.loss,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues where `saved` was."""
        self.network.load_state_dict(saved["network"])
        self._adam.load_state_dict(saved["adam"])
        self.epoch, self.seconds, self.loss = saved["epoch"], saved["seconds"], saved["loss"]
