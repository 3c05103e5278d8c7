"""A fitted network on disk: fitted once, by the first process that needs it, and read by all others."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from omegaconf import DictConfig
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import nn

from runner.execution import signals
from runner.execution.atomic_files import set_aside, write_bytes
from runner.execution.checkpoint import UnusableCheckpointError, load, save
from runner.execution.errors import RunError, one_sentence, warn
from runner.execution.progress import current
from runner.tasks.images.fitting import Fit


def kept_network(
    path: Path, fit: Fit, finish: Callable[[], Mapping[str, Any]], config: DictConfig
) -> dict[str, Any]:
    """Gives the network of `fit` the weights in `path`, fitted now if they are not there.

    Args:
        path: ends in ``.safetensors``; lock and checkpoint lie beside it.
        fit: before its first epoch.
        finish: measures the fitted network.

    Returns:
        What is known of the network: `seconds` and `loss` of its fit, and what `finish` measured.

    Raises:
        RunError: if the loss is no number.
        Interrupted: if the process is told to stop; the fit goes on from the last epoch next time.
    """
    network = fit.network
    report = _read(path, network)
    if report is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            report = _read(path, network, locked=True)
            if report is None:
                _run(fit, path.with_suffix(".pt"), config)
                report = {"seconds": fit.seconds, "loss": fit.loss, **finish()}
                weights = {name: part.cpu().contiguous() for name, part in network.state_dict().items()}
                write_bytes(path, to_bytes(weights, {"report": json.dumps(report)}))
                path.with_suffix(".pt").unlink(missing_ok=True)
    return report


def _run(fit: Fit, checkpoint: Path, config: DictConfig) -> None:
    """Takes `fit` to its end, from its checkpoint where there is one."""
    fresh = copy.deepcopy(fit.state_dict())
    if checkpoint.exists():
        try:
            fit.load_state_dict(load(checkpoint)["fit"])
        except (UnusableCheckpointError, KeyError, TypeError, ValueError, RuntimeError):
            warn(f"the checkpoint {checkpoint} cannot be used; it was moved to {set_aside(checkpoint)}.")
            fit.load_state_dict(fresh)
    progress, saved_at = current(), time.monotonic()
    progress.begin(f"fitting {type(fit.network).__name__}", fit.settings.epochs, fit.epoch)
    try:
        with signals.deferred():
            while fit.epoch < fit.settings.epochs:
                fit.advance()
                if not fit.loss < float("inf"):
                    name = type(fit.network).__name__
                    raise RunError(f"The loss of {name} is {fit.loss} after epoch {fit.epoch}.")
                progress.at(fit.epoch)
                if time.monotonic() - saved_at >= config.checkpoint.seconds or signals.wanted():
                    save(checkpoint, {"fit": fit.state_dict()})
                    saved_at = time.monotonic()
                signals.obey()
    finally:
        progress.end()


def _read(path: Path, network: nn.Module, *, locked: bool = False) -> dict[str, Any] | None:
    """What is known of the weights in `path`, which `network` gets; None where there are none, or garbage.

    Only the holder of the lock sets garbage aside: to others it may be whole again by then.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            report: dict[str, Any] = json.loads((file.metadata() or {})["report"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        own = {name: part.shape for name, part in network.state_dict().items()}
        if {name: part.shape for name, part in weights.items()} != own:
            raise ValueError("it holds another network")
        network.load_state_dict(weights)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        if locked:
            aside = set_aside(path)
            warn(f"{path} cannot be read ({one_sentence(error)}); it was moved to {aside} and is redone.")
        return None
    return report
