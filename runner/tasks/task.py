"""What a task is to the runner, which knows every task by this protocol and none by its name.

A task is a class that ``conf/task/<name>.yaml`` names at `_target_`; the other keys of that file are its
settings, which its methods read from ``config.task``. One file and one YAML make a new task.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import construct
from runner.config.data.instance_files import as_read, why_instance_unread
from runner.config.key_group import node
from runner.models.identity import target_identity
from runner.models.named_model import as_learned
from runner.store.short_hash import PARTS
from runner.tasks.runs import Batch, Runs, Trial

if TYPE_CHECKING:
    from runner.models.recipe import Recipe
    from runner.problem.problems import Problems
    from runner.store.run_files import RunResult
    from runner.store.run_folder import RunFolder
    from runner.store.run_store import Store

Parts = dict[str, Any]
"""The groups of a configuration that make a run (`runner.store.short_hash.PARTS`), resolved, by name."""


class Task(ABC):
    """What is done with a configuration. All methods but `start` have a default."""

    random: bool = True
    """Whether a seed changes its numbers; if not, a table has one run of each cell and no interval."""

    reads_model: bool = False
    """Whether it works on the model at the key `model`; every other task refuses that key."""

    uses_target: bool = False
    """Whether it samples from `target`, whose training is then part of what a table says of its budget."""

    own_streams: bool = False
    """Whether its runs can have random numbers of their own (``streams=independent``)."""

    reads_metric: bool = False
    """Whether its runs have the values of what ``metric`` names; other tasks have values of their own."""

    spends: ClassVar[Mapping[str, str]] = {}
    """What a table says that its runs have taken: words for seconds of the summary or a metric, by name."""

    def check_values(self, config: DictConfig) -> None:  # noqa: B027 - not abstract on purpose
        """Refuses values of its settings that are wrong whatever the target; without torch, so at once.

        Raises:
            UserError: naming the key, the value given and what is allowed.
        """

    def check(self, config: DictConfig, problems: Problems) -> None:  # noqa: B027 - not abstract on purpose
        """Refuses, before any work, what could not be computed.

        Args:
            problems: builds and tries each distinct problem of a command once.

        Raises:
            UserError: naming the key, the value given and what is allowed.
        """

    def measured(self, config: DictConfig, problems: Problems) -> Collection[str] | None:
        """Which metrics of `config` a run measures: some are left out where its target cannot serve them.

        Returns:
            Their names; None where the task does not tell.
        """
        return None

    def values_of(self, config: DictConfig, problems: Problems, metric: str) -> Collection[str] | None:
        """Names of the values that a metric of `config` gives; None where that is not known before a run."""
        return None

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        """Which of its own values are better small or large, ``min`` or ``max``: a search improves these."""
        return {}

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """The part of `parts` that can change the task's numbers."""
        return {**parts, "target": target_identity(parts["target"])}

    def target_read(self, config: DictConfig) -> dict[str, Any]:
        """The resolved node of the target as a run has it, which is written with the run.

        Without what a random instance does not read.

        Raises:
            UserError: if a model that it names is not there or cannot be read.
        """
        return as_read(as_learned(node(config, "target")))

    def reads_sampler(self, config: DictConfig) -> bool:
        """Whether a run reads the sampler; if not, it is written without one."""
        return True

    def why_left_out(self, config: DictConfig, key: str) -> str:
        """Why `key` of the target is not in `target_read`, after the words "must be left out, since"."""
        if "training" not in config.target:
            return why_instance_unread(config.target)
        return f"target.model={config.target.get('model')} is learned, and its file does not say how"

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        """Why a run does not read `key` of its task or sampler, after the same words; None where it does."""
        return None

    def work(self, config: DictConfig) -> int:
        """How much there is to do: what the time of a run is in proportion to."""
        return 1

    def compilable_steps(self, config: DictConfig) -> int | None:
        """How many steps of the sampler ``compile=true`` compiles; None where a run has none of them."""
        return None

    def recipes(self, config: DictConfig, seeds: Sequence[int]) -> list[Recipe]:
        """Of the models that the runs of `seeds` train first, unless they are on disk."""
        if not self.uses_target or not self.reads_sampler(config) or "training" not in config.target:
            return []
        from runner.models.recipe import recipe_of

        return [] if config.target.get("model") is not None else [recipe_of(config)]

    def not_timed(self, config: DictConfig) -> str:
        """What of a run is neither in `run_seconds` nor in `trial`, in words; empty for nothing."""
        return ""

    def run_seconds(self, summary: Mapping[str, Any]) -> float:
        """Seconds that a finished run took without training."""
        return float(summary["wall_seconds"])

    def evaluations(self, config: DictConfig, summary: Mapping[str, Any]) -> float:
        """Evaluations of the target in a finished run, those of all chains; 0 where they are not counted."""
        return 0.0

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> Trial | None:
        """What a run will take, by a short trial that writes nothing; None where it cannot be tried."""
        return None

    def budget(self, configs: Sequence[DictConfig]) -> str:
        """A phrase for the table: what runs of these configurations are given."""
        return ""

    @abstractmethod
    def start(self, config: DictConfig, store: Store, problems: Problems) -> Runs:
        """Prepares the runs of `config`; called once, before the first of them.

        Raises:
            UserError: if nothing of it can be computed.
        """


class PerSeedTask(Task):
    """A task that computes each seed on its own."""

    @abstractmethod
    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Computes the run of `seed`.

        Args:
            store: where models and what else several runs share are kept.
            folder: of the run; ``folder.checkpoint`` is the task's own until the run is done.
            problems: what the runs of a command share: built once, whatever their seeds.

        Raises:
            UserError: if it cannot be computed.
            Interrupted: if the process was told to stop; what was reached is saved.
        """

    def start(self, config: DictConfig, store: Store, problems: Problems) -> Runs:
        return _SeedBySeed(self, config, store, problems)


@dataclass(frozen=True)
class _SeedBySeed:
    """The runs of a `PerSeedTask`: every batch is one run."""

    task: PerSeedTask
    config: DictConfig
    store: Store
    problems: Problems

    def together(self, seeds: Sequence[int]) -> bool:
        return False

    def compute(self, batch: Batch) -> Generator[RunResult, None, None]:
        for seed, folder in batch.folders.items():
            yield self.task.run(self.config, seed, self.store, folder, self.problems)


def parts_of(config: DictConfig) -> Parts:
    """The groups of a configuration that make a run, resolved."""
    return {part: OmegaConf.to_container(config[part], resolve=True) for part in PARTS}


def task_of(config: DictConfig) -> Task:
    """The task of a configuration.

    Raises:
        UserError: if ``task._target_`` is no `Task`.
    """
    return _task(config.task.get("_target_"))


@functools.cache
def _task(path: object) -> Task:
    task: Task = construct({"_target_": path}, "task", (Task,))
    return task


def span(values: Iterable[int]) -> str:
    """The one value, or the smallest and the largest: ``100`` or ``100 to 2,000``."""
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return f"{distinct[0]:,}"
    return f"{distinct[0]:,} to {distinct[-1]:,}"


def spanned(values: Iterable[int], what: str) -> str:
    """Like `span`, with the name of what is counted: ``1 chain``, ``100 chains`` or ``1 to 100 chains``."""
    number = span(values)
    return f"{number} {what}{'s' * (number != '1')}"


def alternatives(values: Iterable[object]) -> str:
    """Distinct values in alphabetical order: ``one_mode or random``."""
    return " or ".join(sorted({str(value) for value in values}))
