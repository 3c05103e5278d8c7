"""Jobs of a sweep that have only runs of other jobs, since what differs in them is no part of a run."""

from __future__ import annotations

from collections.abc import Iterable

from omegaconf import DictConfig

from runner.config.experiments.plans import Plan, seeds_by_job
from runner.execution.override_values import key_of

NO_PART = ("threads", "logger", "checkpoint", "sweep", "experiment", "objective")
"""Keys, and groups of them, that change no number of a run, so that they are no part of its identity."""


def same_jobs(composed: Iterable[tuple[Plan, DictConfig]], kept: int) -> str:
    """Says how many jobs of a sweep are left out, and which swept keys cannot change a run; empty if none is.

    Args:
        composed: each plan of the sweep with its configuration.
        kept: the number of jobs that are not left out.
    """
    number, values = 0, dict[str, set[str]]()
    for plan, config in composed:
        number += len(seeds_by_job(plan, config))
        for line in plan.overrides:
            values.setdefault(key_of(line), set()).add(line)
    same = number - kept
    if not same:
        return ""
    keys = [key for key, lines in values.items() if len(lines) > 1 and key.split(".", 1)[0] in NO_PART]
    are = "is" if len(keys) == 1 else "are"
    because = f"; {', '.join(f'`{key}`' for key in keys)} {are} no part of a run's identity" if keys else ""
    have = "has the same runs as another and is" if same == 1 else "have the same runs as others and are"
    return f"{same} of {number} jobs {have} left out{because}."
