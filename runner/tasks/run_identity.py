"""What a run is: a hash of everything in its configuration that can change its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from omegaconf import DictConfig

from runner.config.run_settings import CODE, COMPILE, CONTENT
from runner.config.values import INDEPENDENT, SHARED, streams_of
from runner.execution.compiling.choice import compiled_identity, compiles
from runner.execution.devices import device_type
from runner.execution.errors import UserError
from runner.models.data_contents import data_contents
from runner.models.identity import model_file, own_class, training_sampler, tuning_identity, unknown_data
from runner.store.short_hash import SCHEMA, own_code, short_hash
from runner.store.written_config import written_settings
from runner.tasks.task import parts_of, task_of
from targets.seeds import SEEDED_BY_A_WORD


def run_identity(config: DictConfig, device: str) -> dict[str, Any]:
    """The resolved part of `config` that can change numbers, without the seed: its task says which part.

    Args:
        device: type of the device that the run is computed on, ``cpu`` or ``cuda``.

    Raises:
        UserError: if a saved model or a data set that it names is not there, or its task refuses the target
            or `model`.
    """
    task = task_of(config)
    model = config.get("model")
    if model is not None and not task.reads_model:
        raise UserError(f"model={model} is for task=evaluate; target.model=PATH samples from a saved model.")
    parts = task.identity(config, parts_of(config))
    target = parts.get("target")
    training = training_sampler(target) if isinstance(target, Mapping) else None
    return {
        "schema": SCHEMA,
        **parts,
        **tuning_identity(config, parts.get("sampler"), training),
        **({} if task.reads_model else unknown_data(config)),
        **stream_identity(config),
        **compile_identity(config, device),
        "device": device,
        "dtype": config.dtype,
    }


def stream_identity(config: DictConfig) -> dict[str, str]:
    """What ``streams`` adds to the identity of a run: nothing by default.

    Raises:
        UserError: for another value, or one that the task has no use for.
    """
    given = streams_of(config)
    if given == SHARED:
        return {}
    if not task_of(config).own_streams:
        raise UserError(
            f"streams={INDEPENDENT} is for task=sample, task={config.task.get('name')} was given."
        )
    return {"streams": INDEPENDENT}


def compile_identity(config: DictConfig, device: str) -> dict[str, str]:
    """What ``compile`` adds to the identity of a run: nothing where steps are not compiled.

    Raises:
        UserError: for another value, or one that the task has no use for.
    """
    given = config.get("compile", False)
    steps = task_of(config).compilable_steps(config)
    if steps is None:
        if given is True:
            name = config.task.get("name")
            raise UserError(f"compile=true is for task=sample and task=learn, task={name} was given.")
        return {}
    return compiled_identity(compiles(given, device, steps))


def written_run(config: DictConfig) -> dict[str, Any]:
    """What is written of `config` with each of its runs, without the seed; a compiled one says that it is.

    The target is as its task reads it: a model that is named is what its file says. Digests of the target's
    other files stand at `CONTENT`, with those of data that are not known; that of the class of an evaluated
    model, where it is the user's own, at `CODE`.
    """
    compiled = compile_identity(config, device_type(config.device))
    written = written_settings(config)
    # Where a file is gone meanwhile, the run fails by that.
    with suppress(UserError):
        written["target"] = task_of(config).target_read(config)
        if isinstance(written["target"], Mapping) and (found := data_contents(config, written["target"])):
            written[CONTENT] = found
        if (model := config.get("model")) is not None and (own := own_class(model_file(model))) is not None:
            written[CODE] = written.get(CODE, {}) | {"model": own_code([own])}
    return written | ({COMPILE: True} if compiled else {})


def run_ids(config: DictConfig, device: str, seeds: Sequence[int]) -> dict[int, str]:
    """The id of the run of each seed; a large one says that its streams are not those of earlier versions."""
    content = run_identity(config, device)
    large = {"stream_state": "hash"}
    return {
        seed: short_hash({**content, "seed": seed, **(large if seed >= SEEDED_BY_A_WORD else {})})
        for seed in seeds
    }
