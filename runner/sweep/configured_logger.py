"""The logger that a configuration asks for."""

from __future__ import annotations

import json

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import construct
from runner.execution.errors import UserError
from runner.store.logger_protocol import Logger, SafeLogger
from runner.sweep.sync_command import sync_command

# Module state: the jobs that a process computes one after the other share its connection to W&B.
_loggers: dict[str, SafeLogger] = {}


def logger_of(config: DictConfig) -> SafeLogger:
    """The logger that ``config.logger`` describes, one per process, description and experiment.

    Raises:
        UserError: if it cannot be built.
    """
    described = OmegaConf.to_container(config.logger, resolve=True)
    if not isinstance(described, dict):
        raise UserError(f"logger must be a group of keys, {described!r} was given.")
    node = {str(name): value for name, value in described.items()}
    later = sync_command(str(config.output_root), config.get("experiment"), node)
    key = json.dumps([node, later], sort_keys=True)
    if key not in _loggers:
        logger = construct(node, "logger", (Logger,)) if node.get("_target_") else None
        _loggers[key] = SafeLogger(logger, later)
    return _loggers[key]
