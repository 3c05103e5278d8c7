"""The task `log_partition`: log Z of a target by population annealing or annealed importance sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.inference.few_seeds import interval
from metrics.likelihood.ais_schedule import FEWEST_STEPS, schedule
from metrics.likelihood.population_annealing import PopulationAnnealing, mean_square_family
from metrics.likelihood.target_annealing import check_annealing_kernel, check_transition
from metrics.likelihood.target_log_partition import known_log_partition
from runner.config.construct import errors_at
from runner.config.key_group import node
from runner.execution.errors import DivergenceError, UserError, one_sentence
from runner.files.resumable import run_to_end, save_plan
from runner.models.identity import target_identity
from runner.problem.build import build_kernel, label
from runner.problem.problems import Problems
from runner.store.run_files import Measurement, RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.likelihood.annealings import Annealings
from runner.tasks.task import Parts, PerSeedTask, spanned
from samplers.kernel import Kernel
from samplers.tuning.tunable import fixed
from targets.checks import one_of, whole_number, within
from targets.randomness import Streams, derive_seed
from targets.reference_distribution import reference_distribution
from targets.target import Target

METHODS = ("population", "ais")

BLOCK = 10
"""Temperatures between two looks at progress, signals and the checkpoint."""


@dataclass(frozen=True)
class Settings:
    """How log Z is estimated.

    Attributes:
        betas: inverse temperatures from 0 to 1, each but the first as often as the kernel moves there.
        chains: members of a population.
        repeats: independent populations.
        threshold: share of a population below which its effective sample size has it resampled.
        kernel: what moves the members.
    """

    betas: Tensor
    chains: int
    repeats: int
    threshold: float
    kernel: Kernel


class LogPartition(PerSeedTask):
    """Estimates log Z of the target with the sampler as the kernel of an annealing."""

    def check(self, config: DictConfig, problems: Problems) -> None:
        settings, target = problems.shared(settings_of, config), problems.target(config)
        try:
            reference_distribution(target)
        except ValueError as error:
            raise UserError(f"target: {one_sentence(error)}.") from error
        try:
            check_transition(target, settings.kernel)
        except ValueError as error:
            raise UserError(f"sampler: {one_sentence(error)}.") from error

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without metrics, since there are no draws."""
        return {
            "target": target_identity(parts["target"]),
            "sampler": parts["sampler"],
            "task": parts["task"],
        }

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        repeats = spanned((task.repeats for task in tasks), "population")
        return f"{repeats} of {spanned((task.chains for task in tasks), 'chain')}"

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        started = time.monotonic()
        target, settings = problems.target(config), problems.shared(settings_of, config)
        work = run_to_end(
            lambda: Annealings(
                {"population": lambda: population(target, settings, seed)},
                len(settings.betas) - 1,
                BLOCK,
                "annealed importance sampling" if config.task.method == "ais" else "population annealing",
            ),
            save_plan(folder.checkpoint, config.checkpoint),
        )
        walk = work.walks["population"]
        assert isinstance(walk, PopulationAnnealing)
        values = values_of(walk, target)
        return RunResult(
            target=label(config, "target"),
            sampler=label(config, "sampler"),
            seed=seed,
            records=[Measurement(walk.steps, walk.evaluations, work.seconds, values)],
            wall_seconds=work.earlier_seconds + time.monotonic() - started,
            exact=settings.kernel.exact,
        )


def settings_of(config: DictConfig) -> Settings:
    """The checked settings of the task.

    Raises:
        UserError: naming the key that is refused.
    """
    if "training" in config.target:
        raise UserError(
            f"task=log_partition needs a target that is not learned, target={config.target.name} was given; "
            "task=evaluate model=PATH estimates log Z of a saved model."
        )
    task = node(config, "task")
    with errors_at("task", task):
        method = one_of("method", task["method"], METHODS)
        betas = schedule(task["temperatures"], task["schedule"], FEWEST_STEPS)
        sweeps = whole_number("sweeps", task["sweeps"])
        chains = whole_number("chains", task["chains"], 2)
        repeats = whole_number("repeats", task["repeats"])
        threshold = within("threshold", task["threshold"], 0.0, 1.0) if method == "population" else 0.0
    sampler = build_kernel(config)
    try:
        check_annealing_kernel(sampler)
    except ValueError as error:
        raise UserError(f"sampler: {one_sentence(error)}.") from error
    repeated = torch.cat([betas[:1], betas[1:].repeat_interleave(sweeps)])
    return Settings(repeated, chains, repeats, threshold, fixed(sampler))


def population(target: Target, settings: Settings, seed: int) -> PopulationAnnealing:
    """The populations of a seed before their first step; repeats are a batch axis with a stream each."""
    seeds = [derive_seed(seed, f"population/{repeat}") for repeat in range(settings.repeats)]
    like = target.like()
    streams = Streams(seeds, "population", like.device)
    start = reference_distribution(target).draws((len(seeds), settings.chains), streams, like=like)
    return PopulationAnnealing(target, settings.kernel, settings.betas, start, streams, settings.threshold)


def values_of(walk: PopulationAnnealing, target: Target) -> dict[str, float]:
    """log Z from all populations together, families, the exact value if known, and an interval.

    ``log_z_repeats_low`` and ``log_z_repeats_high`` are that of the mean of the populations' own log Z-hat,
    which is below log Z by about half its variance: where they are far apart, it may not hold log Z.

    Raises:
        DivergenceError: if a weight is not finite.
    """
    estimates, sizes = walk.log_partition(), walk.family_sizes()
    if not bool(estimates.isfinite().all()):
        raise DivergenceError("The estimate of log Z is not finite, since the target's energies overflow.")
    values = {
        "log_z": float(estimates.logsumexp(0)) - math.log(len(estimates)),
        "family_mean_square": float(mean_square_family(sizes).mean()),
        "families": float((sizes > 0).sum(-1).double().mean()),
    }
    across = interval(estimates.tolist())
    if across is not None and across.lo is not None and across.hi is not None:
        values |= {"log_z_repeats_low": across.lo, "log_z_repeats_high": across.hi}
    exact = known_log_partition(target)
    return (
        values if exact is None else {**values, "log_z_exact": exact, "log_z_error": values["log_z"] - exact}
    )
