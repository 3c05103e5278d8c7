"""Overrides under which the runs of an experiment are not those that its table describes."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.override_parser.types import Override

from runner.config.choices import choices_of, patterns_among
from runner.config.experiments.override_meaning import meaning
from runner.config.experiments.plans import experiment_plans
from runner.config.overrides import EXPERIMENT, Names, is_hydra, parse
from runner.execution.errors import UserError

GROUPS = ("target", "sampler", "tempering", "metric", "task")
"""What captions and notes speak of; seeds, scale and device are said beside every table."""


def changing_overrides(experiment: str, overrides: Sequence[str]) -> list[str]:
    """Those of `overrides` that set something of `GROUPS`, and do more than choose among the runs.

    ``sampler=dmala`` chooses where the experiment has such a row, and ``target.dataset=mnist`` where its grid
    has that value.

    Raises:
        UserError: if one cannot be read, or the experiment has no runs.
    """
    given = parse([f"+{EXPERIMENT}={experiment}", *overrides])
    names = Names([override.input_line or "" for override in given if is_hydra(override)])
    ours = [override for override in given if not is_hydra(override)]
    named = [override for override in ours if _group(override) in GROUPS]
    if not named:
        return []
    rest = [override for override in ours if override not in named]
    own = _plans(rest, names)
    return [str(one.input_line) for one in named if not _only_chooses([*rest, one], own, names)]


def _group(override: Override) -> str:
    return override.key_or_group.split(".", 1)[0]


def _only_chooses(overrides: Sequence[Override], own: set[frozenset[str]], names: Names) -> bool:
    try:
        return _plans(overrides, names) <= own
    except UserError:  # no row has the value but together with another override
        return False


def _plans(overrides: Sequence[Override], names: Names) -> set[frozenset[str]]:
    """Each job as the overrides that make it."""
    plans = experiment_plans(choices_of(overrides), names, patterns_among(overrides))
    return {frozenset(map(meaning, plan.overrides)) for plan in plans}
