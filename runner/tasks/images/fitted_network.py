"""A fitted network on disk: fitted once, by the first process that needs it, and read by all others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from runner.execution.atomic_files import write_bytes
from runner.execution.compute_once import compute_once, discard_damaged
from runner.execution.errors import one_sentence
from runner.execution.resumable import completed, save_plan
from runner.tasks.images.fitting import Fit, Network


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
        The network, and what is known of it: `seconds` and `loss` of its fit, and what `measure` gave.

    Raises:
        RunError: if the loss is no number.
        Interrupted: if the process is told to stop; the fit goes on from the last epoch next time.
    """

    def make() -> None:
        with completed(begin, save_plan(path.with_suffix(".pt"), config.checkpoint)) as fit:
            report = {"seconds": fit.seconds, "loss": fit.loss, **measure(fit.network)}
            weights = {name: part.cpu().contiguous() for name, part in fit.network.state_dict().items()}
            write_bytes(path, to_bytes(weights, {"report": json.dumps(report)}))

    return compute_once(path.with_suffix(".lock"), partial(_read, path, begin), make)


def _read(
    path: Path, begin: Callable[[], Fit[Network]], *, locked: bool = False
) -> tuple[Network, dict[str, Any]] | None:
    """The network in `path` and its report; see `runner.execution.compute_once.Reader`."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            report: dict[str, Any] = json.loads((file.metadata() or {})["report"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        network = begin().network
        own = {name: part.shape for name, part in network.state_dict().items()}
        if {name: part.shape for name, part in weights.items()} != own:
            raise ValueError("it holds another network")
        network.load_state_dict(weights)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        discard_damaged(path, one_sentence(error), locked=locked)
        return None
    return network, report
