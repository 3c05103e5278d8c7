"""Tuned hyperparameters: found once, written as JSON, shared by all runs of a sampler on a target."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from runner.config.key_group import node
from runner.execution.errors import RunError, one_sentence
from runner.execution.live import say_state
from runner.execution.manifest import git, now
from runner.files.atomic_files import read_json, write_json
from runner.files.compute_once import compute_once, discard_damaged
from runner.models.identity import tuning_id
from runner.problem.build import Problem, label
from runner.store.digest import SCHEMA
from runner.store.run_store import Store
from samplers.tuning.tunable import TuningResult
from targets.randomness import Streams

TUNING_SEED = 0
"""Tuning is no part of a run: its random numbers are the same whatever the runs' seeds."""


def tuned(problem: Problem, store: Store) -> tuple[Problem, dict[str, Any] | None]:
    """`problem` with a tuned kernel, and what the tuning was; None where nothing was left to tuning.

    The first process that needs a tuning result computes it; others wait for it. The hyperparameters take
    effect as read from the file, so that all runs have the same ones.
    """
    tunable = problem.tunable
    if tunable is None:
        return problem, None
    path = store.tuning(tuning_id(problem.config, problem.device.type))
    result = compute_once(
        path.with_suffix(".lock"), partial(_read, path), lambda: write_json(path, _tune(problem, path.stem))
    )
    kernel = tunable.kernel_at(result["hyperparameters"])
    return problem.with_kernel(kernel), {"artefact": path.stem, **result}


def tune(problem: Problem) -> tuple[TuningResult, float]:
    """What the sampler's pilot finds on this target, and the seconds that it took; writes nothing."""
    assert problem.tunable is not None
    started = time.perf_counter()
    with torch.no_grad():
        try:
            found = problem.tunable.tune(problem.target, Streams([TUNING_SEED], "tuning", problem.device))
        except ValueError as error:
            target = problem.config.target._target_
            raise RunError(f"The sampler cannot be tuned to {target}: {one_sentence(error)}.") from error
    return found, time.perf_counter() - started


def _tune(problem: Problem, name: str) -> dict[str, Any]:
    say_state(f"tuning {label(problem.config, 'sampler')}")
    found, seconds = tune(problem)
    content = {
        "schema": SCHEMA,
        "seconds": seconds,
        "evaluations": found.evaluations,
        "report": found.report,
        "hyperparameters": found.hyperparameters,
        "target": node(problem.config, "target"),
        "sampler": node(problem.config, "sampler"),
        "created": now(),
        "git": git(),
    }
    try:
        json.dumps(content, allow_nan=False)
    except ValueError as error:
        raise RunError(f"Tuning {name} found no usable hyperparameters: {one_sentence(error)}.") from error
    return content


def _read(path: Path, *, locked: bool = False) -> dict[str, Any] | None:
    """The part of a tuning result that a run needs; see `runner.files.compute_once.Reader`."""
    if not path.exists():
        return None
    content = read_json(path)
    if content is None or not isinstance(content.get("hyperparameters"), Mapping):
        discard_damaged(path, "it is no tuning result", locked=locked)
        return None
    return {key: content.get(key) for key in ("hyperparameters", "seconds", "evaluations", "report")}
