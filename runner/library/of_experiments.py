"""Runs that are part of an experiment, whatever command computed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hydra.core.override_parser.types import Glob

from runner.config.overrides import EXPERIMENT, parse
from runner.execution.errors import UserError, warn
from runner.report.selection.conditions import unquoted
from runner.report.selection.stored_runs import StoredRun


def under_experiments(
    runs: Sequence[StoredRun], conditions: Sequence[str], hydra: Sequence[str] = ()
) -> list[StoredRun]:
    """`runs`, of which those that an experiment of `conditions` needs are described as its own.

    A run notes the experiment that computed it. Others that need the same run skip it, and so does an
    experiment what a plain sweep has computed; a condition ``experiment=NAME`` is about all of them.

    Args:
        hydra: the overrides of Hydra that say where else configurations are.
    """
    found = list(runs)
    for name in _named(conditions):
        from runner.sweep.jobs import experiment_jobs  # a third of a second, for experiments alone

        ids: set[str] = set()
        for scale in sorted({str(run.settings.get("scale")) for run in runs}):
            try:
                jobs = experiment_jobs(name, [*hydra, f"scale={scale}"])
            except UserError:
                continue
            ids |= {run_id for job in jobs for run_id in job.run_ids.values()}
        if not ids and any(run.config.get(EXPERIMENT) == name for run in runs):
            warn(
                f"the experiment {name} is not among the configurations here (--config-dir says where else "
                "to look): runs of it that other commands computed are left out."
            )
        found = [replace(run, needed_by=name) if run.folder.run_id in ids else run for run in found]
    return found


def _named(conditions: Sequence[str]) -> list[str]:
    """The experiments that `conditions` name; patterns are about what the runs have noted."""
    names: list[str] = []
    for override in parse(conditions):
        value = override.value()
        if override.key_or_group == EXPERIMENT and not isinstance(value, Glob):
            names += map(str, unquoted(override) if override.is_sweep_override() else [value])
    return names
