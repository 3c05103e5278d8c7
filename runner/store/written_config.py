"""What of a configuration is written with a run, and the text of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from runner.store.short_hash import PARTS, own_code

WRITTEN = (
    *PARTS,
    "tuning",
    "model",
    "scale",
    "logger",
    "device",
    "dtype",
    "output_root",
    "experiment",
    "streams",
    "threads",
)
"""Keys of a configuration that are written with a run; its seed joins them."""


def written_settings(config: DictConfig) -> dict[str, Any]:
    """The part of a configuration that is written with its runs, in plain values, see `with_own_code`."""
    return with_own_code({key: plain_value(config, key) for key in WRITTEN})


def with_own_code(content: Mapping[str, Any]) -> dict[str, Any]:
    """`content` as it is written: where it names code of the user's own, ``code`` has digests by group."""
    named = {key: value for key, value in content.items() if key != "code"}
    code = {part: found for part in PARTS if (found := own_code(named.get(part))) is not None}
    return {**named, "code": code} if code else named


def plain_value(config: DictConfig, key: str) -> Any:
    """The value at `key` as plain numbers, texts, dictionaries and lists."""
    value = config[key]
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def config_texts(content: Mapping[str, Any], seeds: Iterable[int]) -> dict[int, str]:
    """The file ``config.yaml`` of the run of each seed; `content` is of the configuration without it."""
    text = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True)
    return {seed: f"{text}seed: {seed}\n" for seed in seeds}
