"""What a sweeper improves: one metric, in its direction."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError, listed, unknown
from runner.problem.metric_directions import metric_direction
from runner.store.run_store import Store
from runner.sweep.outcome import Failure
from runner.tasks.task import task_of

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from runner.problem.problems import Problems

KEY, METRIC = "objective", "metric"
NUMBER = re.compile(r"_\d+$")
"""The end of the name of a value that is one of many."""

DIRECTIONS = {"min": "minimize", "max": "maximize"}


class Objective(NamedTuple):
    """What is improved: the name of the metric, and ``minimize`` or ``maximize``."""

    metric: str
    direction: str

    @property
    def worst(self) -> float:
        """The value of a run that has no finite one."""
        return math.inf if self.direction == "minimize" else -math.inf


def objective_of(config: DictConfig, measured: Collection[str] | None = None) -> Objective:
    """The value that ``objective`` names, or else the first one with a direction; and that direction.

    The values are those of the metrics, or those of a task that measures others.

    Args:
        measured: those that a run has, where that is known: the first one is among them.

    Raises:
        UserError: for a value that is not among them, or that has no better direction.
    """
    directions, given = _directions(config), OmegaConf.select(config, KEY)
    if given is None:
        has = directions if measured is None else {name: directions.get(name) for name in measured}
        directed = [name for name, direction in has.items() if direction in DIRECTIONS]
        if not directed:
            raise UserError(f"{KEY} must name a metric of direction min or max; {', '.join(has)} have none.")
        given = directed[0]
    if given not in directions:
        raise unknown(KEY, str(given), list(directions))
    if directions[given] not in DIRECTIONS:
        raise UserError(f"{KEY} must name a metric of direction min or max, {given} has none.")
    return Objective(str(given), DIRECTIONS[directions[given]])


def check_same_measure(override: Override) -> None:
    """Refuses a search over `metric` or `objective`, between whose trials nothing could be compared.

    Raises:
        UserError: naming the values.
    """
    if override.is_sweep_override() and override.key_or_group in (METRIC, KEY):
        key, line = override.key_or_group, override.input_line
        several = f"; several metrics at once are {METRIC}=[kl,tv]" if key == METRIC else ""
        raise UserError(f"{key} must be the same in all trials of a search, '{line}' was given{several}.")


def check_measured(config: DictConfig, problems: Problems, name: str | None = None) -> None:
    """Refuses an objective that a run will not have: its target cannot serve it, or it gives other values.

    Args:
        name: the objective; by default what ``objective`` names, and nothing is refused where that is null.

    Raises:
        UserError: naming the metrics that it measures.
    """
    given = OmegaConf.select(config, KEY) if name is None else name
    if given is None or (measured := task_of(config).measured(config, problems)) is None:
        return
    if given not in measured:
        target, sampler = (config[group].get("name") for group in ("target", "sampler"))
        raise UserError(
            f"{KEY} must name a metric that is measured, '{given}' was given, which target={target} with "
            f"sampler={sampler} does not have. Allowed: {listed(measured)}."
        )
    values = task_of(config).values_of(config, problems, str(given))
    if values is not None and given not in values:
        numbered = {NUMBER.sub("_*", name) for name in values}
        raise UserError(
            f"{KEY} must name a metric that gives a value of its own name; {given} gives {listed(numbered)}."
        )


def objective_value(objective: Objective, root: str, run_ids: Iterable[str]) -> float | None:
    """The mean of the objective over the runs of a trial, one a seed; None unless all of them are measured.

    A run whose value is not finite is infinitely bad, and so is one that diverged
    (`runner.execution.errors.DivergenceError`). One that failed for another reason, or that another process
    is computing, is not measured.

    Args:
        root: the output root.
        run_ids: of the trial.
    """
    values = []
    for folder in map(Store(root).run, run_ids):
        status, summary = folder.standing()
        if summary is not None:
            value = summary["metrics"].get(objective.metric)
            finite = value is not None and math.isfinite(value)
            values.append(float(value) if finite else objective.worst)
            continue
        failure = Failure.read(folder.path / "failure.json") if status == "failed" else None
        if failure is None or not failure.diverged:
            return None
        values.append(objective.worst)
    return fmean(values)


def _directions(config: DictConfig) -> dict[str, str]:
    """``min``, ``max`` or ``none`` by the name of each value.

    Raises:
        UserError: if there is none.
    """
    task = task_of(config)
    if not task.reads_metric:
        if not (own := dict(task.directions(config))):
            raise UserError(
                f"task={config.task.get('name')} has no value that a search can improve: its method "
                "directions names none."
            )
        return own
    metrics = OmegaConf.to_container(config.metric, resolve=True)
    assert isinstance(metrics, dict)
    # Other keys are no metrics, such as `_optional_`.
    named = {str(name): node for name, node in metrics.items() if isinstance(node, dict)}
    return {name: metric_direction(name, node.get("_target_")) for name, node in named.items()}
