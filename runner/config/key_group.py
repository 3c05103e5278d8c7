"""A group of keys of the configuration as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError


def node(config: DictConfig, key: str) -> dict[str, Any]:
    """The resolved group at `key` as plain dictionaries and lists.

    Raises:
        UserError: if it is no group of keys.
    """
    return group(OmegaConf.to_container(config[key], resolve=True), key)


def group(found: Any, key: str) -> dict[str, Any]:
    """`found`, which stands at `key`, as a dictionary.

    Raises:
        UserError: if it is no group of keys.
    """
    if not isinstance(found, Mapping):
        raise UserError(f"{key} must be a group of keys, {found!r} was given.")
    return {str(name): value for name, value in found.items()}
