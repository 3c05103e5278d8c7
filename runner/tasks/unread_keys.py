"""Overrides that no job of a command reads: they would change nothing, without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from runner.config.key_group import node
from runner.config.run_settings import as_setting
from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.tasks.task import task_of

TARGET = "target."
BESIDE = ("task.", "sampler.", "tempering.")
"""Groups of which a task may leave keys unread, whatever the target."""


def check_read(given: Sequence[Override], configs: Sequence[DictConfig]) -> None:
    """Refuses an override of target, task or sampler that changes none of the jobs.

    Such are the size and the training of a model that is named and learned already, unless they are what its
    file says, the training of the target with a task that has its own, and what a task does not read with
    the other settings of the job (`runner.tasks.task.Task.why_unread`).

    Args:
        given: overrides as they were given; what an experiment sets for all of its rows is none of them.
        configs: of all jobs.

    Raises:
        UserError: naming the key, the value and what is allowed.
    """
    for key, line in _keys(given):
        reasons = list(takewhile(bool, (_why_unread(config, key, line) for config in configs)))
        if len(reasons) == len(configs):
            raise UserError(f"{reasons[0]}.")


def lines_read(lines: Sequence[str], config: DictConfig) -> tuple[str, ...]:
    """Those of a job's overrides that it reads: jobs that have the same of them have the same numbers."""
    task = task_of(config)
    return tuple(line for line in lines if task.why_unread(config, key_of(line)) is None)


def _keys(given: Sequence[Override]) -> Iterator[tuple[str, str]]:
    """The keys inside these groups that `given` sets, each with its line; of a group all that are in it."""
    for override in given:
        if override.key_or_group.startswith((TARGET, *BESIDE)) and not override.is_delete():
            for key in _leaves(override.key_or_group, override.value()):
                yield key, str(override.input_line)


def _leaves(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield key
        return
    for name, inside in value.items():
        yield from _leaves(f"{key}.{name}", inside)


def _why_unread(config: DictConfig, key: str, line: str) -> str | None:
    """Why a job has not what `config` says at `key`, the value with it; None where it has."""
    task = task_of(config)
    if not key.startswith(TARGET):
        why = task.why_unread(config, key)
        return None if why is None else f"{key} must be left out, since {why}; {line} was given"
    path = key.removeprefix(TARGET).split(".")
    there, value = _at(node(config, "target"), path)
    read, said = _at(task.target_read(config), path)
    # In lists, where NaN, of which settings have but one object, is itself.
    if not there or isinstance(value, Mapping) or (read and [as_setting(said)] == [as_setting(value)]):
        return None
    if not read:
        return f"{key} must be left out, since {task.why_left_out(config, key)}; {value!r} was given"
    model = "model" if task.reads_model else "target.model"
    named = f"{model}={OmegaConf.select(config, model)}"
    return f"{key} must be {said!r}, as in {named}, or be left out; {value!r} was given"


def _at(found: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Whether there is a value at the dotted `path`, and what it is."""
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return False, None
        found = found[name]
    return True, found
