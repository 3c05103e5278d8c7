"""From a command to its jobs: products of overrides, the plans of an experiment, seeds in batches."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.catalogue.plain_checks import check_plainly, check_sampler_plainly
from runner.config.choices import LABEL, check_number, choices_of, patterns_among
from runner.config.compose import compose_by_groups, one_sentence_errors
from runner.config.experiments.beside_sweep import beside_sweep
from runner.config.experiments.plans import Plan, every_combination, experiment_plans, seeds_by_job
from runner.config.experiments.same_jobs import same_jobs
from runner.config.form import MOST_SEEDS, check_form
from runner.config.key_group import node
from runner.config.output_root import check_one_folder
from runner.config.overrides import EXPERIMENT, Names, is_hydra, parse
from runner.config.rewritten import with_own_classes, with_whole_numbers
from runner.config.values import check_sweep, check_values, seeds_of
from runner.execution.devices import device_type
from runner.execution.errors import UserError, warn
from runner.execution.override_values import key_of
from runner.models.identity import tuning_effort
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.sweep.job_errors import in_job
from runner.tasks.run_identity import run_ids
from runner.tasks.task import task_of
from runner.tasks.unread_keys import check_read, lines_read


@dataclass(frozen=True)
class Job:
    """Runs of one configuration, one for each seed: all of its seeds, or ``sweep.seeds_per_job`` of them.

    Attributes:
        overrides: what makes the configuration, those of Hydra itself not included.
        row: label of the experiment's row; empty outside an experiment.
        cell: the grid point, key to value.
        config: the composed configuration.
        run_ids: the id of each seed's run.
    """

    overrides: tuple[str, ...]
    row: str
    cell: dict[str, Any]
    config: DictConfig
    run_ids: dict[int, str]


@dataclass(frozen=True)
class Request:
    """What a command asks for.

    Attributes:
        hydra: overrides of Hydra itself.
        names: the names that there are.
        plans: the jobs, their names checked.
        pattern: whether a pattern such as ``sampler=glob(pt_*)`` chose among names.
        given: the overrides as they were given, those of an experiment's own file not among them.
    """

    hydra: list[str]
    names: Names
    plans: list[Plan]
    pattern: bool = False
    given: Sequence[Override] = ()

    @functools.cached_property
    def configs(self) -> list[DictConfig]:
        """The configuration of each plan, its form and its plain values checked; imports no torch.

        Raises:
            UserError: for a configuration that is refused.
        """
        return [self._config(plan) for plan in self.plans]

    @property
    def composed(self) -> Iterator[tuple[Plan, DictConfig]]:
        """Each plan with its configuration."""
        return zip(self.plans, self.configs, strict=True)

    @functools.cached_property
    def jobs(self) -> list[Job]:
        """What `jobs_of` gives, made once: a table is checked with the jobs that then run.

        Raises:
            UserError: for a configuration, a device or seeds that are refused.
        """
        jobs = jobs_of(self)
        if same := same_jobs(self.composed, len(jobs)):
            warn(same)
        return jobs

    def _config(self, plan: Plan) -> DictConfig:
        config = compose_by_groups([*self.hydra, *plan.overrides], self.names.groups)
        _set_seeds(config, plan)
        # Values that are made of the seed are known later where each seed is a job of its own.
        check_form(config, resolve=not plan.one_job_per_seed)
        with one_sentence_errors():
            check_sweep(config)
        with in_job(plan.overrides, len(self.plans)):
            check_values(config)
            tuning_effort(config)
            if not plan.one_job_per_seed:
                for group in ("target", "metric", "logger"):
                    check_plainly(node(config, group), group)
                check_sampler_plainly(node(config, "sampler"), "sampler")
            task_of(config).check_values(config)
        return config


def experiment_jobs(name: str, overrides: Sequence[str]) -> list[Job]:
    """All jobs of an experiment, done or not.

    Raises:
        UserError: for a name, a key or a value that is refused.
    """
    return jobs_of(requested([f"+{EXPERIMENT}={name}", *overrides], multirun=True))


def requested(lines: Sequence[str], *, multirun: bool, of_one: str = "") -> Request:
    """The plans behind a command's overrides; every name in them exists. Does not import torch.

    Args:
        of_one: what the command does with one value of each key; empty for one that has -m.

    Raises:
        UserError: for a name that does not exist, or a sweep without -m.
    """
    given = parse(lines)
    hydra = [override.input_line or "" for override in given if is_hydra(override)]
    names = Names(hydra)
    for override in given:
        if is_hydra(override):
            names.check_hydra(override)
        elif override.is_sweep_override() and not multirun:
            raise _needs_multirun(override, of_one)
    ours = [override for override in given if not is_hydra(override)]
    choices = choices_of(ours)
    experiment = f"+{EXPERIMENT}"
    if multirun and len(choices.get(experiment, [])) > 1:
        raise UserError(f"One experiment at a time, '{', '.join(choices[experiment])}' was given.")
    if LABEL in choices and not (multirun and experiment in choices):
        raise UserError(f"{LABEL} chooses rows of an experiment, as in -m {experiment}=NAME {LABEL}=LABEL.")
    if multirun and experiment in choices:
        names.check(choices[experiment])
        plans = experiment_plans(choices, names, patterns_among(ours))
    else:
        check_number(math.prod(map(len, choices.values())))
        plans = [Plan(list(lines)) for lines in every_combination(choices)]
    checked = []
    for plan in plans:
        names.check(plan.overrides)
        lines = with_whole_numbers(with_own_classes(plan.overrides, names), names)
        of_the_seed = any("${seed}" in line for line in lines)  # such as target.model_seed=${seed}
        alone = plan.one_job_per_seed or of_the_seed
        checked.append(replace(plan, overrides=lines, one_job_per_seed=alone, in_sweep=multirun))
    return Request(hydra, names, checked, bool(patterns_among(given)), given)


def jobs_of(request: Request) -> list[Job]:
    """The composed jobs of a request; a job whose runs are all among those of earlier ones is left out.

    So is, outside an experiment, one that differs from an earlier one in keys alone that it does not read.
    In an experiment every job without seeds of its own has those of the experiment, or else of its scale.

    Raises:
        UserError: for a configuration, a device, seeds, a key that no job reads, or several output roots.
    """
    several = any(plan.in_sweep for plan in request.plans)
    check_read(request.given if several else beside_sweep(request.given, request.names), request.configs)
    jobs: list[Job] = []
    known: set[tuple[str, str]] = set()
    read: set[tuple[str, ...]] = set()
    for plan, config in request.composed:
        overrides = plan.overrides
        if _takes_seeds(plan):
            overrides = [*overrides, f"seed=[{','.join(map(str, config.seed))}]"]
        for lines, own in _by_job(overrides, config, plan):
            if not plan.row:
                if (same := lines_read(lines, own)) in read:
                    continue
                read.add(same)
            with one_sentence_errors():
                ids = run_ids(own, device_type(own.device), seeds_of(own))
            new = {(plan.row, run_id) for run_id in ids.values()} - known
            known |= new
            if new:
                jobs.append(Job(tuple(lines), plan.row, plan.cell, own, ids))
    check_one_folder(job.config for job in jobs)
    return jobs


def _takes_seeds(plan: Plan) -> bool:
    """Whether the seeds of a plan are those of its experiment or scale."""
    return bool(plan.row) and not any(override.startswith("seed=") for override in plan.overrides)


def _set_seeds(config: DictConfig, plan: Plan) -> None:
    """Gives a job of an experiment its seeds; a scale without their number is refused later."""
    if _takes_seeds(plan):
        with suppress(OmegaConfBaseException):
            number = OmegaConf.select(config, "scale.seeds") if plan.seeds is None else plan.seeds
            if isinstance(number, int) and 1 <= number <= MOST_SEEDS:
                config.seed = list(range(number))


def folders_of(job: Job) -> list[RunFolder]:
    """The folders of a job's runs, in the order of its seeds."""
    store = Store(job.config.output_root)
    return [store.run(run_id) for run_id in job.run_ids.values()]


def _by_job(
    overrides: Sequence[str], config: DictConfig, plan: Plan
) -> Iterator[tuple[Sequence[str], DictConfig]]:
    """The overrides and the configuration of each job of a plan."""
    seeds = seeds_by_job(plan, config)
    if len(seeds) == 1 and not plan.one_job_per_seed:
        yield overrides, config
        return
    for each in seeds:
        own = copy.deepcopy(config)
        own.seed = each[0] if len(each) == 1 else each
        line = f"seed={own.seed}".replace(" ", "")
        yield [line if key_of(given) == "seed" else given for given in overrides], own


def _needs_multirun(override: Override, of_one: str) -> UserError:
    line = override.input_line or ""
    if of_one:
        return UserError(f"'{line}' is a sweep, and {of_one}; give one value.")
    together = f"; several metrics at once are metric=[{line.split('=', 1)[1]}]"
    return UserError(
        f"'{line}' is a sweep and needs -m{together if override.key_or_group == 'metric' else ''}."
    )
