"""Small networks fitted to data epoch by epoch: once, by the first process that needs them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from omegaconf import DictConfig
from torch import Tensor, nn

from runner.execution.errors import DivergenceError, one_sentence
from runner.files.compute_once import compute_once, discard_damaged
from runner.files.resumable import completed, save_plan, sources_of
from runner.files.tensor_files import UnreadableTensorsError, read_tensors, write_tensors
from runner.tasks.images.fit_settings import FitSettings
from targets.randomness import derive_seed

Network = TypeVar("Network", bound=nn.Module)


def network_from_seed(
    build: Callable[[], Network], seed: int, dtype: torch.dtype, device: torch.device
) -> Network:
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


class Fit(Generic[Network]):
    """A network on its way; a `runner.files.resumable.Resumable` in epochs.

    Args:
        network: what is fitted.
        loss: takes the network and the places of a batch of examples, ``(batch,)``; gives their mean loss.
        examples: how many there are.
        settings: how.
        seed: of the order of the examples, another in every epoch.

    Attributes:
        epoch: passes that are done.
        seconds: what they took.
        loss: mean loss over the last pass; NaN before the first.
    """

    def __init__(
        self,
        network: Network,
        loss: Callable[[Network, Tensor], Tensor],
        examples: int,
        settings: FitSettings,
        seed: int,
    ) -> None:
        self.network, self.settings, self.seed = network, settings, seed
        self._loss, self._examples = loss, examples
        self._adam = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        self.epoch, self.seconds, self.loss = 0, 0.0, math.nan

    @property
    def title(self) -> str:
        return f"fitting {type(self.network).__name__}"

    @property
    def total(self) -> int:
        return self.settings.epochs

    @property
    def position(self) -> int:
        return self.epoch

    @property
    def done(self) -> bool:
        return self.epoch >= self.settings.epochs

    def advance(self) -> None:
        """One pass over all examples; the last batch may be smaller.

        Raises:
            DivergenceError: if the loss is no number.
        """
        started = time.monotonic()
        generator = torch.Generator().manual_seed(derive_seed(self.seed, f"order/{self.epoch}"))
        total = torch.zeros((), dtype=torch.float64, device=next(self.network.parameters()).device)
        order = torch.randperm(self._examples, generator=generator)
        for places in torch.split(order, self.settings.batch):
            self._adam.zero_grad()
            loss = self._loss(self.network, places)
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            self._adam.step()
            total += loss.detach().double() * len(places)
        self.epoch, self.loss = self.epoch + 1, float(total) / self._examples
        self.seconds += time.monotonic() - started
        if not self.loss < math.inf:
            name = type(self.network).__name__
            raise DivergenceError(f"The loss of {name} is {self.loss} after epoch {self.epoch}.")

    def state_dict(self) -> dict[str, Any]:
        return {
            "network": self.network.state_dict(),
            "adam": self._adam.state_dict(),
            "epoch": self.epoch,
            "seconds": self.seconds,
            "loss": self.loss,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        self.network.load_state_dict(saved["network"])
        self._adam.load_state_dict(saved["adam"])
        self.epoch, self.seconds, self.loss = saved["epoch"], saved["seconds"], saved["loss"]


def fitted_network(
    path: Path,
    begin: Callable[[], Fit[Network]],
    measure: Callable[[Network], Mapping[str, Any]],
    config: DictConfig,
) -> tuple[Network, dict[str, Any]]:
    """The network whose weights are in `path`, fitted now if they are not there.

    Args:
        path: ends in ``.safetensors``; lock and checkpoint lie beside it.
        begin: gives the fit before its first epoch.
        measure: what is to be known of the fitted network.

    Returns:
        The network, and what is known of it: `seconds`, `loss` and `sources` of its fit, and what `measure`
        gave.

    Raises:
        RunError: if the loss is no number.
        Interrupted: if the process is told to stop; the fit goes on from the last epoch next time.
    """

    def make() -> None:
        plan = save_plan(path.with_suffix(".pt"), config.checkpoint)
        with completed(begin, plan) as fit:
            report = {"seconds": fit.seconds, "loss": fit.loss, **measure(fit.network)}
            report["sources"] = sources_of(plan.path)
            write_tensors(path, fit.network.state_dict(), {"report": json.dumps(report)})

    return compute_once(path.with_suffix(".lock"), partial(_read, path, begin), make)


def _read(
    path: Path, begin: Callable[[], Fit[Network]], *, locked: bool = False
) -> tuple[Network, dict[str, Any]] | None:
    """The network in `path` and its report; see `runner.files.compute_once.Reader`."""
    if not path.is_file():
        return None
    try:
        weights, texts = read_tensors(path)
        report: dict[str, Any] = json.loads(texts["report"])
        network = begin().network
        own = {name: part.shape for name, part in network.state_dict().items()}
        if {name: part.shape for name, part in weights.items()} != own:
            raise ValueError("holds another network")
        network.load_state_dict(weights)
    except (UnreadableTensorsError, KeyError, ValueError) as error:
        discard_damaged(path, f"it {one_sentence(error)}", locked=locked)
        return None
    return network, report
