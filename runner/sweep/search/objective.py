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
from runner.sweep.outcome import Outcome

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


def objective_value(config: DictConfig, outcome: Outcome, run_ids: Mapping[int, str]) -> float:
    """The mean of the objective over the seeds of a job; infinitely bad where a run of it has none.

    Args:
        outcome: of the job.
        run_ids: by seed.
    """
    name, direction = objective_of(config)
    worst = math.inf if direction == "minimize" else -math.inf
    store = Store(config.output_root)
    values = []
    for run_id in run_ids.values():
        summary = store.run(run_id).summary() or {}
        value = (summary.get("metrics") or {}).get(name)
        values.append(worst if value is None or run_id in outcome.locked else float(value))
    return fmean(values)


def _direction(name: str, node: Any) -> str:
    return metric_direction(name, node.get("_target_") if isinstance(node, dict) else None)
