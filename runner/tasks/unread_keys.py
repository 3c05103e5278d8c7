"""Overrides of the target that no job of a command reads: they would change nothing, without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from runner.config.key_group import node
from runner.config.run_settings import as_setting
from runner.execution.errors import UserError
from runner.tasks.task import task_of

TARGET = "target."


def check_read(given: Sequence[Override], configs: Sequence[DictConfig]) -> None:
    """Refuses an override of a learned target that changes none of the jobs.

    Such are the size and the training of a model that is named and learned already, unless they are what its
    file says, and the training of the target with a task that has its own.

    Args:
        given: overrides as they were given; what an experiment sets for all of its rows is none of them.
        configs: of all jobs.

    Raises:
        UserError: naming the key, the value and what is allowed.
    """
    for key in _target_keys(given):
        reasons = [_why_unread(config, key) for config in configs if "training" in config.target]
        if len(reasons) == len(configs) and all(reasons):
            raise UserError(f"{reasons[0]}.")


def _target_keys(given: Sequence[Override]) -> Iterator[str]:
    """The keys inside the target that `given` sets; of a value that is a group, each key in it."""
    for override in given:
        if override.key_or_group.startswith(TARGET) and not override.is_delete():
            yield from _leaves(override.key_or_group, override.value())


def _leaves(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield key
        return
    for name, inside in value.items():
        yield from _leaves(f"{key}.{name}", inside)


def _why_unread(config: DictConfig, key: str) -> str | None:
    """Why a job has not what `config` says at `key`, the value with it; None where it has."""
    task, path = task_of(config), key.removeprefix(TARGET).split(".")
    there, value = _at(node(config, "target"), path)
    read, said = _at(task.target_read(config), path)
    if not there or isinstance(value, Mapping) or (read and as_setting(said) == as_setting(value)):
        return None
    if not read:
        return f"{key} must be left out, since {task.why_left_out(config, key)}; {value!r} was given"
    named = f"target.model={config.target.get('model')}"
    return f"{key} must be {said!r}, as in {named}, or be left out; {value!r} was given"


def _at(found: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Whether there is a value at the dotted `path`, and what it is."""
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return False, None
        found = found[name]
    return True, found
