"""What the runs of some jobs that are left will take: as finished ones did, or by short trials."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig

from runner.config.key_group import node
from runner.execution.devices import device_type
from runner.execution.errors import UserError, counted
from runner.execution.progress import current
from runner.models.identity import MODEL_FILE, leaves_open, tuning_id
from runner.store.run_store import Store
from runner.sweep.standing import Standing
from runner.tasks.runs import Trial

if TYPE_CHECKING:
    from runner.models.recipe import Recipe

OF_SPEED = ("device", "dtype", "compile", "threads")
"""Keys on which the time of a step depends, besides the target, the number of replicas and of chains."""

SECONDS = 30.0
"""After so long no kind of a group is tried any more of which another one has been tried."""

BRIEF_SECONDS = 5.0
"""After so long a brief estimate tries none at all any more."""


@dataclass
class Left:
    """What the runs that are left will take: seconds in one process, and evaluations of the target.

    Attributes:
        untried: how many of them are in neither, since their task has no short trial.
        models: how many are trained first; their training is in `seconds` alone.
        beside: what is done besides, in words, whose time is not known.
        brief: whether a longer estimate would know more.
    """

    seconds: float = 0.0
    evaluations: float = 0.0
    untried: int = 0
    models: int = 0
    beside: set[str] = field(default_factory=set)
    brief: bool = False

    @property
    def training(self) -> str:
        """``, the training of 2 models included``; empty where none is trained."""
        return f", the training of {counted(self.models, 'model')} included" if self.models else ""

    def unknown(self, number: int) -> str:
        """Sentences on what of the `number` runs is not in the time; empty where it is of all."""
        when = "before one is done" + (
            "; the command of the sweep with --dry-run estimates it" if self.brief else ""
        )
        if self.untried == number:
            return f"How long {'it takes' if number == 1 else 'they take'} cannot be told {when}."
        runs = [f"{self.untried} of them, whose time cannot be told {when}"] if self.untried else []
        return " ".join(f"This leaves out {each}." for each in [*runs, *sorted(self.beside)])


class Kind(NamedTuple):
    """Runs of one kind take as long by their work.

    Attributes:
        group: the experiment's row, or else the sampler: what a kind that is not known is estimated by.
        cost: what the time of a step depends on, as JSON.
    """

    group: str
    cost: str


class Rate(NamedTuple):
    """Seconds and evaluations of a run by its work, and seconds of the tuning before it."""

    seconds: float
    evaluations: float
    tuning: float


def left(standings: Sequence[Standing], *, briefly: bool = False) -> Left:
    """What the runs that are left will take, one after the other, with the tuning that they wait for.

    A run costs what a finished run of its job costs; else by its work what those of its kind cost; else what
    a short trial of it says (`runner.tasks.task.Task.trial`); else what those of its group cost. A model that
    several runs read is trained once. The order of the jobs does not matter. Evaluations are those of the
    runs alone.

    Args:
        briefly: whether no model is trained and no sampler tuned to tell how long that takes, no trial is
            begun after `BRIEF_SECONDS`, and none where runs of the group are finished.
    """
    kinds = [_kind_of(each) for each in standings]
    rates = _finished(standings, kinds)
    total, to_tune = _trained(standings, briefly), set[Path]()
    done = {kind.group for kind in rates}
    to_try = {
        kind: each
        for kind, each in _in_order(standings, kinds)
        if kind not in rates and not (briefly and kind.group in done)
    }
    rates |= _tried(to_try, done, briefly)
    for each, kind in zip(standings, kinds, strict=True):
        if not each.left:
            continue
        rate = rates.get(kind) or _of_group(kind.group, rates)
        if rate is None:
            total.untried += each.left
            continue
        if beside := each.task.not_timed(each.job.config):
            total.beside.add(beside)
        total.seconds += each.left * (mean(each.costs) if each.costs else rate.seconds * each.work)
        evaluations = mean(each.evaluations) if each.costs else rate.evaluations * each.work
        total.evaluations += each.left * evaluations
        if (path := _pilot(each)) is not None and path not in to_tune:
            to_tune.add(path)
            total.seconds += rate.tuning
    return total


def _pilot(each: Standing) -> Path | None:
    """Where the result of a pilot will be that the runs wait for; None where they wait for none."""
    config = each.job.config
    if not each.task.reads_sampler(config) or not leaves_open(node(config, "sampler")):
        return None
    path = Store(config.output_root).tuning(tuning_id(config, device_type(config.device)))
    return None if path.exists() else path


def _missing_models(each: Standing) -> dict[str, Recipe]:
    """The recipes of the models that its runs which are left train first, by the models' ids."""
    config = each.job.config
    models = Store(config.output_root).model
    recipes = each.task.recipes(config, each.seeds_left) if each.left else []
    return {one.model_id: one for one in recipes if not (models(one.model_id) / MODEL_FILE).is_file()}


def _trained(standings: Sequence[Standing], briefly: bool) -> Left:
    """The training of these models: those of one recipe but for the seed take as long."""
    missing: dict[str, tuple[Recipe, DictConfig]] = {}
    for each in standings:
        for name, recipe in _missing_models(each).items():
            missing.setdefault(name, (recipe, each.job.config))
    if not missing or briefly:
        training = {f"the training of {counted(len(missing), 'model')}"} if missing else set[str]()
        return Left(beside=training, brief=briefly)
    from runner.models.training_trial import training_seconds

    progress, seconds = current(), dict[str, float]()
    kinds = {name: replace(recipe, seed=0).model_id for name, (recipe, _) in missing.items()}
    progress.start("trying a few iterations", len(set(kinds.values())), 0)
    for name, (recipe, config) in missing.items():
        if kinds[name] not in seconds:
            progress.at(len(seconds), title=f"trying a few iterations of {recipe.target.get('name')}")
            seconds[kinds[name]] = training_seconds(recipe, config)
    progress.stop()
    return Left(sum(seconds[kind] for kind in kinds.values()), models=len(missing))


def _kind_of(each: Standing) -> Kind:
    config = each.job.config
    target = node(config, "target")
    sampler = node(config, "sampler") if each.task.reads_sampler(config) else {}
    target.pop("model_seed", None)
    ladder = sampler.get("ladder")
    replicas = len(ladder) if isinstance(ladder, list) else sampler.get("replicas")
    cost = [target, replicas, config.task.get("chains"), *(config.get(key) for key in OF_SPEED)]
    return Kind(each.job.row or str(sampler.get("name")), json.dumps(cost, sort_keys=True, default=str))


def _finished(standings: Iterable[Standing], kinds: Iterable[Kind]) -> dict[Kind, Rate]:
    """What finished runs have cost, by their kind."""
    found: dict[Kind, list[tuple[float, float]]] = {}
    tuning: dict[Kind, list[float]] = {}
    for each, kind in zip(standings, kinds, strict=True):
        costs = [
            (cost / each.work, n / each.work) for cost, n in zip(each.costs, each.evaluations, strict=True)
        ]
        if costs:
            found.setdefault(kind, []).extend(costs)
        tunings = [summary["tuning"] for summary in each.summaries if summary.get("tuning")]
        tuning.setdefault(kind, []).extend(float(one["seconds"]) for one in tunings)
    rates = {}
    for kind, costs in found.items():
        seconds, evaluations = (mean(values) for values in zip(*costs, strict=True))
        rates[kind] = Rate(seconds, evaluations, mean(tuning[kind] or [0.0]))
    return rates


def _in_order(standings: Sequence[Standing], kinds: Sequence[Kind]) -> list[tuple[Kind, Standing]]:
    """A job of each kind that has runs left, in an order that is that of the kinds, not of the jobs."""
    pairs = [(kind, each) for kind, each in zip(kinds, standings, strict=True) if each.left]
    pairs.sort(key=lambda pair: (pair[0], pair[1].job.overrides), reverse=True)
    first = dict(pairs)
    return [(kind, first[kind]) for kind in sorted(first)]


def _tried(jobs: Mapping[Kind, Standing], done: Collection[str], briefly: bool) -> dict[Kind, Rate]:
    """What short trials say: of one kind of each group that is not `done`, then of others for `SECONDS`.

    Briefly, of those that wait for no pilot and for no model, for as long as `BRIEF_SECONDS`.
    """
    if briefly:
        jobs = {kind: each for kind, each in jobs.items() if not (_pilot(each) or _missing_models(each))}
    firsts: dict[str, Kind] = {}
    for kind in jobs:
        if kind.group not in done:
            firsts.setdefault(kind.group, kind)
    order = [*firsts.values(), *(kind for kind in jobs if kind not in firsts.values())]
    found: dict[Kind, Rate] = {}
    untried: set[str] = set()
    progress, started = current(), time.monotonic()
    progress.start("trying a few steps", len(order), 0)
    for place, kind in enumerate(order):
        late = time.monotonic() - started > (BRIEF_SECONDS if briefly else SECONDS)
        if kind.group in untried or (late and (briefly or place >= len(firsts))):
            continue
        progress.at(place, title=f"trying a few steps of {kind.group}")
        each = jobs[kind]
        trial = each.task.trial(each.job.config, list(each.job.run_ids))
        if not isinstance(trial, Trial | None):
            raise UserError(
                f"The trial of the task {each.job.config.task.name} must give a runner.tasks.runs.Trial or "
                f"None, {trial!r} was given."
            )
        if trial is None or (briefly and not trial.seconds):
            untried.add(kind.group)
            continue
        work = each.work
        found[kind] = Rate(trial.seconds / work, trial.evaluations / work, trial.tuning_seconds)
    progress.stop()
    return found


def _of_group(group: str, rates: Mapping[Kind, Rate]) -> Rate | None:
    """The mean over the kinds of a group of which the cost is known; None where it is of none."""
    known: Collection[Rate] = [rate for kind, rate in rates.items() if kind.group == group]
    return Rate(*map(mean, zip(*known, strict=True))) if known else None
