"""The command that copies results from the disk to W&B later, to where a sweep would have copied them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from runner.config.output_root import output_root_word
from runner.execution.override_values import quoted

SETTINGS = ("mode", "project", "entity", "group", "tags", "base_url", "directory")
"""Keys of the logger that the command takes without ``logger.``."""

WANDB = "runner.loggers.wandb.WandbLogger"


def sync_command(root: str, experiment: str | None, logger: Mapping[str, Any]) -> str:
    """``python -m runner.wandb_sync runs output_root=DIR experiment=NAME project=mine 'tags=[first,try]'``.

    Args:
        root: the folder of results, which may hold runs of other experiments: they do not get these tags.
        logger: the group `logger` of the sweep's configuration.
    """
    given = {name: logger.get(name) for name in SETTINGS} if logger.get("_target_") == WANDB else {}
    if given.get("directory") == root:
        del given["directory"]
    words = [output_root_word(root), *([f"experiment={quoted(experiment)}"] if experiment else [])]
    words += [f"{name}={_written(value)}" for name, value in given.items() if value]
    return shlex.join(["python", "-m", "runner.wandb_sync", "runs", *words])


def _written(value: Any) -> str:
    """A text, or a list of texts, as the value of an override."""
    return f"[{','.join(map(_written, value))}]" if isinstance(value, list) else quoted(str(value))
