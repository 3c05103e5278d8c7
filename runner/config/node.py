"""A node of the configuration as plain values."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError


def node(config: DictConfig, key: str) -> dict[str, Any]:
    """The resolved node at `key` as plain dictionaries and lists.

    Raises:
        UserError: if it is no group of keys.
    """
    found = OmegaConf.to_container(config[key], resolve=True)
    if not isinstance(found, dict):
        raise UserError(f"{key} must be a group of keys, {found!r} was given.")
    return {str(name): value for name, value in found.items()}
