"""One job: the runs of one configuration, a batch of seeds. Hydra's task function, so importable by name."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from filelock import Timeout
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from runner.config.compose import HYDRA_KEYS_KEPT
from runner.config.seeds import seeds_of
from runner.config.tempering import folded
from runner.execution import signals
from runner.execution.atomic_files import DiskFullError
from runner.execution.checkpoint import save
from runner.execution.devices import device_type
from runner.execution.errors import RunError
from runner.execution.progress import current
from runner.models.identity import run_ids
from runner.problem.build import Problem, build, label, threads
from runner.problem.cached_reference_sample import with_model
from runner.problem.tuning_cache import tuned
from runner.store.logger import Mirror, mirror
from runner.store.run_files import begin_runs, finish_run
from runner.store.run_store import RunFolder, Store
from runner.store.visit_files import files_of
from runner.sweep.outcome import Failure, Outcome
from runner.sweep.run_batch import Group, next_group
from runner.tasks import per_seed
from runner.tasks.sample import Sampling, begin, measured, sample

PROBE_SECONDS = 0.2
"""A lock that someone only looks at is free again after that long."""

_parent: list[int] = []


class NotANumberError(RunError):
    """Chains of some seeds met a log density that is NaN or infinite."""

    def __init__(self, target: str, step: int, seeds: list[int]) -> None:
        listed = ", ".join(map(str, seeds))
        super().__init__(
            f"The target {target} gave NaN or infinity as a log density by step {step} (seed {listed})."
        )
        self.seeds = seeds


@contextmanager
def stopping_here() -> Iterator[None]:
    """Here a job that is told to stop raises `Interrupted`; in a worker it says so in its outcome."""
    _parent.append(os.getpid())
    try:
        yield
    finally:
        _parent.pop()


def job(config: DictConfig) -> Outcome:
    """Hydra's task function: computes the runs of `config` that are not done; a failure is an outcome."""
    hydra = HydraConfig.get()
    kept = [line for line in hydra.overrides.hydra if line.startswith(HYDRA_KEYS_KEPT)]
    worker = os.getpid() not in _parent
    if worker:
        if signals.wanted():
            return Outcome(interrupted=True)
        signals.listen()
    try:
        return compute(folded(config), [*kept, *hydra.overrides.task])
    except signals.Interrupted:
        if worker:
            return Outcome(interrupted=True)
        raise


def compute(config: DictConfig, overrides: Sequence[str]) -> Outcome:
    """Computes the runs of `config` that nobody has done or is doing.

    Raises:
        Interrupted: if the process was told to stop; what was reached is saved.
    """
    signals.obey()
    outcome = Outcome()
    store = Store(config.output_root)
    ids = run_ids(config, device_type(config.device), seeds_of(config))
    folders = {seed: store.run(run_id) for seed, run_id in ids.items()}
    done = [seed for seed, folder in folders.items() if folder.summary() is not None]
    outcome.skipped += [ids[seed] for seed in done]
    with ExitStack() as locks:
        mine = _lock({seed: folder for seed, folder in folders.items() if seed not in done}, locks)
        outcome.elsewhere += [ids[seed] for seed in folders if seed not in done and seed not in mine]
        # Another process may have ended a run between the look and the lock.
        late = [seed for seed, folder in mine.items() if folder.summary() is not None]
        outcome.skipped += [ids[seed] for seed in late]
        left = {seed: folder for seed, folder in mine.items() if seed not in late}
        if left:
            _Job(config, overrides, store, folders, left, outcome).compute()
    return outcome


@dataclass
class _Job:
    """The runs `left` to this process, whose locks it holds."""

    config: DictConfig
    overrides: Sequence[str]
    store: Store
    folders: dict[int, RunFolder]
    left: dict[int, RunFolder]
    outcome: Outcome
    tuning: dict[str, Any] | None = field(default=None, init=False)
    told: Mirror = field(default_factory=lambda: Mirror(None), init=False)

    def compute(self) -> None:
        self.told = mirror(self.config)
        if self.config.task.name in per_seed.TASKS:
            self._compute_apart()
            return
        try:
            problem, self.tuning = tuned(with_model(build(self.config), self.store), self.store)
            problem = problem.prepared()
        except Exception as error:
            self._fail(error, list(self.left))
            return
        while self.left:
            signals.obey()
            group = next_group(self.folders, self.left, together=problem.target.batch_invariant)
            try:
                self._compute_group(problem, group)
            except NotANumberError as error:
                # The other seeds of the batch are not to blame: they go on without it.
                group.checkpoint.unlink(missing_ok=True)
                self._fail(error, [seed for seed in error.seeds if seed in self.left])
            except Exception as error:
                self._fail(error, [seed for seed in group.seeds if seed in self.left])

    def _compute_apart(self) -> None:
        """The runs of a task that computes each seed on its own."""
        task = per_seed.TASKS[self.config.task.name]
        # A worker has no preflight, and more threads round a training differently.
        torch.set_num_threads(threads(self.config))
        for seed, folder in list(self.left.items()):
            signals.obey()
            try:
                manifests = begin_runs(
                    self.config, device_type(self.config.device), {seed: folder}, self.told
                )
                result = task(self.config, seed, self.store, folder)
                finish_run(self.config, result, folder, manifests[seed], self.told)
            except Exception as error:
                self._fail(error, [seed])
                continue
            folder.checkpoint.unlink(missing_ok=True)
            del self.left[seed]
            self.outcome.done.append(folder.run_id)

    def _compute_group(self, problem: Problem, group: Group) -> None:
        wanted = {seed: self.left[seed] for seed in group.seeds if seed in self.left}
        manifests = begin_runs(self.config, problem.device.type, wanted, self.told)
        run = begin(problem, group.seeds)
        group.restore(run)
        progress = current()
        title = f"{label(self.config, 'target')} / {label(self.config, 'sampler')}, {len(group.seeds)} seeds"
        progress.begin(title, problem.settings.steps, run.step)
        try:
            with signals.deferred():
                sample(problem, run, _Watch(self.config, group))
                for seed, folder in wanted.items():
                    files = files_of(run.suite, group.seeds.index(seed))
                    result = replace(measured(problem, run, seed), files=files)
                    finish_run(self.config, result, folder, manifests[seed], self.told, tuning=self.tuning)
        finally:
            progress.end()
        group.checkpoint.unlink(missing_ok=True)
        for seed, folder in wanted.items():
            del self.left[seed]
            self.outcome.done.append(folder.run_id)

    def _fail(self, error: Exception, seeds: list[int]) -> None:
        runs = {seed: self.left.pop(seed) for seed in seeds or list(self.left)}
        ids = {seed: folder.run_id for seed, folder in runs.items()}
        failure = Failure.of(error, self.overrides, ids)
        self.outcome.failures.append(failure)
        for folder in runs.values():
            self.told.finish(folder.run_id, failure.to_json(), failed=True)
            with suppress(DiskFullError):
                folder.fail(failure.to_json())


class _Watch:
    """Looks at a batch of runs between blocks of steps: NaN, progress, checkpoint, signals."""

    def __init__(self, config: DictConfig, group: Group) -> None:
        self.target, self.group = str(config.target._target_), group
        self.every_seconds, self.every_steps = config.checkpoint.seconds, config.checkpoint.steps
        self.saved_at, self.saved_step = time.monotonic(), 0

    def __call__(self, run: Sampling) -> None:
        bad = run.not_a_number()
        if bad:
            raise NotANumberError(self.target, run.step, bad)
        current().at(run.step)
        elapsed = time.monotonic() - self.saved_at
        due = elapsed >= self.every_seconds
        due |= self.every_steps is not None and run.step - self.saved_step >= self.every_steps
        if due or signals.wanted():
            save(self.group.checkpoint, {"run_ids": self.group.run_ids, **run.state_dict()})
            self.saved_at, self.saved_step = time.monotonic(), run.step
        signals.obey()


def _lock(folders: dict[int, RunFolder], locks: ExitStack) -> dict[int, RunFolder]:
    """Those of `folders` that no other process is computing, locked until `locks` closes."""
    mine: dict[int, RunFolder] = {}
    for attempt in range(2):
        for seed, folder in folders.items():
            if seed not in mine:
                folder.prepare()
                try:
                    locks.enter_context(folder.lock().acquire(timeout=0))
                except Timeout:
                    continue
                mine[seed] = folder
        if attempt or len(mine) == len(folders):
            break
        time.sleep(PROBE_SECONDS)
    return {seed: mine[seed] for seed in folders if seed in mine}
