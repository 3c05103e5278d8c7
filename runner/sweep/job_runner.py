"""One job: the runs of one configuration, a batch of seeds. Hydra's task function, so importable by name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from filelock import Timeout
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from runner.config.compose import HYDRA_KEYS_KEPT
from runner.config.seeds import seeds_of
from runner.execution import signals
from runner.execution.atomic_files import DiskFullError
from runner.execution.devices import device_type
from runner.execution.resumable import completed, save_plan
from runner.models.identity import run_ids
from runner.problem.build import Problem, build, threads
from runner.problem.cached_reference_sample import with_trained_target
from runner.problem.tuning_cache import tuned
from runner.store.logger_protocol import SafeLogger
from runner.store.run_files import finish_run, start_runs
from runner.store.run_store import RunFolder, Store
from runner.store.visit_files import suite_files
from runner.sweep.configured_logger import logger_of
from runner.sweep.outcome import Failure, Outcome
from runner.sweep.run_batch import RunBatch, next_batch
from runner.tasks import per_seed
from runner.tasks.sample import NotANumberError, begin, run_result

PROBE_SECONDS = 0.2
"""A lock that someone only looks at is free again after that long."""


def job(config: DictConfig) -> Outcome:
    """Hydra's task function: computes the runs of `config` that are not done; a failure is an outcome."""
    hydra = HydraConfig.get()
    kept = [line for line in hydra.overrides.hydra if line.startswith(HYDRA_KEYS_KEPT)]
    worker = signals.in_worker()
    if worker:
        if signals.wanted():
            return Outcome(interrupted=True)
        signals.listen()
    try:
        return compute(config, [*kept, *hydra.overrides.task])
    except signals.Interrupted:
        if worker:
            return Outcome(interrupted=True)
        raise


def compute(config: DictConfig, overrides: Sequence[str]) -> Outcome:
    """Computes the runs of `config` that are not done and that no other process computes.

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
    logger: SafeLogger = field(default_factory=SafeLogger, init=False)

    def compute(self) -> None:
        self.logger = logger_of(self.config)
        if self.config.task.name in per_seed.TASKS:
            self._compute_apart()
            return
        try:
            problem, self.tuning = tuned(with_trained_target(build(self.config), self.store), self.store)
            problem = problem.prepared()
        except Exception as error:
            self._fail(error, list(self.left))
            return
        while self.left:
            signals.obey()
            batch = next_batch(self.folders, self.left, together=problem.target.batch_invariant)
            try:
                self._compute_batch(problem, batch)
            except NotANumberError as error:
                # The other seeds of the batch start again without those that failed.
                batch.checkpoint.unlink(missing_ok=True)
                self._fail(error, [seed for seed in error.seeds if seed in self.left])
            except Exception as error:
                self._fail(error, [seed for seed in batch.seeds if seed in self.left])

    def _compute_apart(self) -> None:
        """The runs of a task that computes each seed on its own."""
        task = per_seed.TASKS[self.config.task.name]
        # A worker has no preflight, and more threads round a training differently.
        torch.set_num_threads(threads(self.config))
        for seed, folder in list(self.left.items()):
            signals.obey()
            try:
                manifests = start_runs(
                    self.config, device_type(self.config.device), {seed: folder}, self.logger
                )
                result = task(self.config, seed, self.store, folder)
                finish_run(self.config, result, folder, manifests[seed], self.logger)
            except Exception as error:
                self._fail(error, [seed])
                continue
            folder.checkpoint.unlink(missing_ok=True)
            del self.left[seed]
            self.outcome.done.append(folder.run_id)

    def _compute_batch(self, problem: Problem, batch: RunBatch) -> None:
        wanted = {seed: self.left[seed] for seed in batch.seeds if seed in self.left}
        manifests = start_runs(self.config, problem.device.type, wanted, self.logger)
        plan = save_plan(batch.checkpoint, self.config.checkpoint, owner={"run_ids": batch.run_ids})
        with completed(lambda: begin(problem, batch.seeds), plan) as run:
            for seed, folder in wanted.items():
                files = suite_files(run.suite, batch.seeds.index(seed))
                result = replace(run_result(run, seed), files=files)
                finish_run(self.config, result, folder, manifests[seed], self.logger, tuning=self.tuning)
        for seed, folder in wanted.items():
            del self.left[seed]
            self.outcome.done.append(folder.run_id)

    def _fail(self, error: Exception, seeds: list[int]) -> None:
        runs = {seed: self.left.pop(seed) for seed in seeds or list(self.left)}
        ids = {seed: folder.run_id for seed, folder in runs.items()}
        failure = Failure.of(error, self.overrides, ids)
        self.outcome.failures.append(failure)
        for folder in runs.values():
            self.logger.finish(folder.run_id, failure.to_json(), failed=True)
            with suppress(DiskFullError):
                folder.fail(failure.to_json())


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
