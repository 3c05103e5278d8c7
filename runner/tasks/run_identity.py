"""What a run is: a hash of everything in its configuration that can change its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.store.digest import PARTS, SCHEMA, digest
from runner.tasks.task import task_of


def run_identity(config: DictConfig, device: str) -> dict[str, Any]:
    """The resolved part of `config` that can change numbers, without the seed: its task says which part.

    Args:
        device: type of the device that the run is computed on, ``cpu`` or ``cuda``.

    Raises:
        UserError: if a saved model or a data set that it names is not there, or the task refuses the target.
    """
    parts: dict[str, Any] = {part: OmegaConf.to_container(config[part], resolve=True) for part in PARTS}
    return {
        "schema": SCHEMA,
        **task_of(config).identity(config, parts),
        "device": device,
        "dtype": config.dtype,
    }


def run_ids(config: DictConfig, device: str, seeds: Sequence[int]) -> dict[int, str]:
    """The id of the run of each seed."""
    content = run_identity(config, device)
    return {seed: digest({**content, "seed": seed}) for seed in seeds}
