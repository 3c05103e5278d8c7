"""What a run is: a hash of everything in its configuration that can change its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

SCHEMA = 1
"""Raised when the meaning of a result changes, so that old and new runs are never taken for each other."""

PARTS = ("target", "sampler", "task", "metric")
"""The groups of the configuration that make a run; `seed`, device type and `dtype` join them."""


def canonical(value: Any) -> Any:
    """`value` with everything that means the same written the same: 1.0 as 1, tuples as lists.

    Falsy values stay: seed 0 is a seed, False is not absent.
    """
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest(content: Mapping[str, Any]) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the canonical JSON of `content`."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def identifying(config: DictConfig, device: str) -> dict[str, Any]:
    """The resolved part of `config` that can change numbers, without the seed.

    Args:
        device: type of the device that the run is computed on, ``cpu`` or ``cuda``.
    """
    parts = {part: OmegaConf.to_container(config[part], resolve=True) for part in PARTS}
    return {"schema": SCHEMA, **parts, "device": device, "dtype": config.dtype}


def run_ids(config: DictConfig, device: str, seeds: Sequence[int]) -> dict[int, str]:
    """The id of the run of each seed."""
    content = identifying(config, device)
    return {seed: digest({**content, "seed": seed}) for seed in seeds}


def artefact_id(config: DictConfig, device: str) -> str:
    """Identity of a tuned sampler: what can change its hyperparameters, and no more."""
    content = identifying(config, device)
    return digest({key: content[key] for key in ("schema", "target", "sampler", "device", "dtype")})
