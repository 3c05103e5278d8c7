"""Values that every run has, checked before torch is imported: a mistake in them is said at once."""

from __future__ import annotations

import math
import re
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf

from runner.config.form import MOST_SEEDS
from runner.execution.compiling.choice import compile_choice
from runner.execution.devices import DEVICES, DTYPES
from runner.execution.errors import UserError, not_allowed
from runner.execution.manifest import git

MOST_THREADS = 1024
"""CPU threads at most; some thousands end the process without a word."""

AUTO = "auto"
"""The value ``auto`` of ``sweep.gpus``."""

SHARED, INDEPENDENT = "shared", "independent"
"""Whether samplers of one seed share random numbers."""


def check_values(config: DictConfig) -> None:
    """Refuses values that are wrong whatever the target, the sampler and the task are.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    seeds_of(config)
    threads(config)
    if config.device not in DEVICES:
        raise not_allowed("device must be one of auto, cpu, cuda", config.device, DEVICES)
    if config.dtype not in DTYPES:
        raise not_allowed("dtype must be float32 or float64", config.dtype, DTYPES)
    streams_of(config)
    compile_choice(config.compile)
    _check_checkpoint(config)


def check_sweep(config: DictConfig) -> None:
    """Refuses wrong values of `sweep`, which say how a command goes on and are no job's.

    Raises:
        UserError: naming the key, the value given and what is allowed; as of `check_clean`, too.
    """
    retries_of(config)
    fails_fast(config)
    gpus_of(config)
    seeds_per_job(config)
    check_clean(config)


def threads(config: DictConfig) -> int:
    """CPU threads of a run.

    Raises:
        UserError: unless it is a whole number from 1 to `MOST_THREADS`.
    """
    given: Any = config.threads
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= MOST_THREADS:
        raise UserError(f"threads must be a whole number from 1 to {MOST_THREADS}, {given!r} was given.")
    return given


def fails_fast(config: DictConfig) -> bool:
    """``sweep.fail_fast``: whether a sweep ends with its first failed job.

    Raises:
        UserError: unless it is true or false.
    """
    given: Any = config.sweep.fail_fast
    if not isinstance(given, bool):
        raise UserError(f"sweep.fail_fast must be true or false, {given!r} was given.")
    return given


def retries_of(config: DictConfig) -> int:
    """``sweep.retries``: how often a job whose worker was killed goes back into the queue.

    Raises:
        UserError: unless it is a whole number of at least 0.
    """
    given: Any = config.sweep.retries
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise UserError(f"sweep.retries must be a whole number of at least 0, {given!r} was given.")
    return given


def seeds_per_job(config: DictConfig) -> int | None:
    """``sweep.seeds_per_job``: at most how many seeds of a configuration are one job; None for all of them.

    Raises:
        UserError: unless it is a whole number of at least 1, or null.
    """
    given: Any = config.sweep.seeds_per_job
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
        raise UserError(
            f"sweep.seeds_per_job must be a whole number of at least 1, or null, {given!r} was given."
        )
    return given


def gpus_of(config: DictConfig) -> list[str] | str | None:
    """``sweep.gpus``: the ids of GPUs, `AUTO` for those of the machine, or None.

    Raises:
        UserError: for anything else.
    """
    given: Any = config.sweep.gpus
    if given is None or given == AUTO:
        return None if given is None else AUTO
    ids = [str(each) for each in given] if OmegaConf.is_list(given) else []
    # Ids of GPUs, or of parts of them, as nvidia-smi -L lists them.
    if not ids or not all(re.fullmatch(r"[\w-]+", each) for each in ids):
        raise UserError(
            f"sweep.gpus must be auto, null or a list of ids, such as [0,1], {given!r} was given."
        )
    return ids


def streams_of(config: DictConfig) -> str:
    """Whether samplers of one seed share random numbers, `SHARED` or `INDEPENDENT`.

    Raises:
        UserError: for another value.
    """
    given = config.streams
    if given not in (SHARED, INDEPENDENT):
        raise UserError(f"streams must be {SHARED} or {INDEPENDENT}, {given!r} was given.")
    return str(given)


def seeds_of(config: DictConfig) -> list[int]:
    """The seeds that `config` asks for, in its order.

    Raises:
        UserError: unless they are distinct whole numbers of at least 0.
    """
    given: Any = list(config.seed) if isinstance(config.seed, ListConfig) else config.seed
    seeds: list[int] = given if isinstance(given, list) else [given]
    whole = all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in seeds)
    if not seeds or not whole or len(set(seeds)) < len(seeds):
        raise UserError(
            f"seed must be a whole number of at least 0, or a list of distinct ones, {given!r} was given."
        )
    if max(seeds) >= 2**63 or len(seeds) > MOST_SEEDS:
        raise UserError(
            f"seed must be at most {MOST_SEEDS:,} numbers, each below 2^63; {len(seeds):,} up to "
            f"{max(seeds)} were given."
        )
    return seeds


def check_clean(config: DictConfig) -> None:
    """Refuses to start from changed files where ``sweep.clean`` does.

    Raises:
        UserError: naming the commit; and unless it is true or false.
    """
    given = config.sweep.clean
    if not isinstance(given, bool):
        raise UserError(f"sweep.clean must be true or false, {given!r} was given.")
    if not given:
        return
    found = git()
    if found["commit"] is None:
        raise UserError("sweep.clean=true needs code in a git checkout with a commit, this is none.")
    if found["dirty"]:
        raise UserError(
            "sweep.clean=true needs code as it was committed, but files differ from commit "
            f"{found['commit'][:7]}; git status names them."
        )


def _check_checkpoint(config: DictConfig) -> None:
    seconds: Any = config.checkpoint.seconds
    steps: Any = config.checkpoint.steps
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"checkpoint.seconds must be a number of at least 0, {seconds!r} was given.")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise UserError(f"checkpoint.steps must be null or a whole number from 1, {steps!r} was given.")
