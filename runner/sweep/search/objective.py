"""What a sweeper improves: one metric, in its direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError, unknown
from runner.problem.metric_directions import metric_direction
from runner.store.run_store import Store
from runner.sweep.outcome import Failure

KEY = "objective"
DIRECTIONS = {"min": "minimize", "max": "maximize"}


def objective_of(config: DictConfig) -> tuple[str, str]:
    """The metric that ``objective`` names, or else the first one with a direction; and that direction.

    Returns:
        The name, and ``minimize`` or ``maximize``.

    Raises:
        UserError: for a metric that is not among ``metric``, or that has no better direction.
    """
    metrics = OmegaConf.to_container(config.metric, resolve=True)
    assert isinstance(metrics, dict)
    directions = {str(name): _direction(str(name), node) for name, node in metrics.items()}
    given = OmegaConf.select(config, KEY)
    if given is None:
        directed = [name for name, direction in directions.items() if direction in DIRECTIONS]
        if not directed:
            raise UserError(
                f"{KEY} must name a metric with a better direction; {', '.join(directions)} have none."
            )
        given = directed[0]
    if given not in directions:
        raise unknown(KEY, str(given), list(directions))
    if directions[given] not in DIRECTIONS:
        raise UserError(f"{KEY} must name a metric with a better direction, {given} has none.")
    return str(given), DIRECTIONS[directions[given]]


def objective_value(config: DictConfig, run_ids: Mapping[int, str]) -> float | None:
    """The mean of the objective over the seeds of a job; None unless all its runs are measured.

    A run whose value is not finite is infinitely bad, and so is one that failed since its chains met NaN. One
    that failed for another reason, or that another process is computing, is not measured.

    Args:
        config: of the job.
        run_ids: by seed.
    """
    from runner.tasks.sample import NotANumberError  # imports torch, which `objective_of` does without

    name, direction = objective_of(config)
    worst = math.inf if direction == "minimize" else -math.inf
    store = Store(config.output_root)
    values = []
    for folder in map(store.run, run_ids.values()):
        status, summary = folder.standing()
        if summary is not None:
            value = summary["metrics"].get(name)
            values.append(float(value) if value is not None and math.isfinite(value) else worst)
            continue
        failure = Failure.read(folder.path / "failure.json") if status == "failed" else None
        if failure is None or failure.error != NotANumberError.__name__:
            return None
        values.append(worst)
    return fmean(values)


def _direction(name: str, node: Any) -> str:
    return metric_direction(name, node.get("_target_") if isinstance(node, dict) else None)
