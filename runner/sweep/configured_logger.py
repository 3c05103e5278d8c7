"""The logger that a configuration asks for."""

from __future__ import annotations

import json
import shlex

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import construct
from runner.config.output_root import output_root_word
from runner.execution.errors import UserError
from runner.store.logger_protocol import Logger, SafeLogger

# Module state: the jobs that a process computes one after the other share its connection to W&B.
_loggers: dict[str, SafeLogger] = {}


def logger_of(config: DictConfig) -> SafeLogger:
    """The logger that ``config.logger`` describes, one per process and description.

    Raises:
        UserError: if it cannot be built.
    """
    described = OmegaConf.to_container(config.logger, resolve=True)
    if not isinstance(described, dict):
        raise UserError(f"logger must be a group of keys, {described!r} was given.")
    key = json.dumps(described, sort_keys=True)
    if key not in _loggers:
        node = {str(name): value for name, value in described.items()}
        logger = construct(node, "logger", (Logger,)) if node.get("_target_") else None
        root = shlex.quote(output_root_word(config.output_root))
        _loggers[key] = SafeLogger(logger, f"'python -m runner.wandb_sync runs {root}'")
    return _loggers[key]
