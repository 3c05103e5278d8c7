"""One job: the runs of one configuration, a batch of seeds. Hydra's task function, so importable by name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from runner.config.compose import searched
from runner.config.form import check_form
from runner.config.run_settings import changed_settings
from runner.config.tempering import folded
from runner.config.values import seeds_of, threads
from runner.execution import signals
from runner.execution.compiling.choice import require_compiler
from runner.execution.devices import device_type, present_device
from runner.execution.errors import UserError, one_sentence, warn
from runner.execution.live import heard_by
from runner.execution.manifest import git, source
from runner.execution.memory.freed_memory import keep_freed_memory
from runner.execution.memory.memory_errors import memory_error
from runner.execution.progress import current
from runner.execution.storage_errors import StorageError, storage_error
from runner.execution.streams.outputs import guard
from runner.files.resumable import sources_of
from runner.problem.problems import Problems
from runner.store.run_files import finish_run, start_runs
from runner.store.run_folder import RunFolder
from runner.store.run_locks import take_locks
from runner.store.run_store import Store
from runner.store.under_way import note
from runner.store.written_config import config_texts
from runner.sweep.configured_logger import logger_of
from runner.sweep.jobs import Job
from runner.sweep.launchers.gpus import own_gpu
from runner.sweep.launchers.orphans import at_work
from runner.sweep.launchers.requeue import interrupted_outcome
from runner.sweep.live_logging import BatchLogging, PreparationLogging
from runner.sweep.outcome import Failure, Outcome
from runner.sweep.run_batch import BatchElsewhereError, RunBatch, next_batch
from runner.tasks.run_identity import run_ids, written_run
from runner.tasks.runs import Runs, SeedError
from runner.tasks.task import task_of


def job(config: DictConfig) -> Outcome:
    """Hydra's task function: computes the runs of `config` that are not done; a failure is an outcome."""
    source()  # before a file of it is edited while this process computes
    hydra = HydraConfig.get()
    worker = signals.in_worker()
    if worker:
        if signals.stop_wanted():
            signals.leave_worker()
            return interrupted_outcome()
        guard()  # a worker has the terminal of its command, which may be closed
        signals.listen()
    try:
        if worker:
            signals.listen_for_launcher()
        # A GPU is taken before CUDA is asked for a device.
        with at_work() if worker else nullcontext(), own_gpu(config) if worker else nullcontext():
            # Hydra composes a worker's configuration without us.
            config = folded(config)
            check_form(config)
            ids = run_ids(config, device_type(config.device), seeds_of(config))
            only = Job(tuple(hydra.overrides.task), "", {}, config, ids)
            return compute(only, searched(hydra.overrides.hydra), Problems())
    except signals.Interrupted:
        if worker:
            return interrupted_outcome(signals.hand_back())
        raise


def compute(job: Job, hydra: Sequence[str], problems: Problems) -> Outcome:
    """Computes the runs of `job` that are not done and that no other process is computing.

    Args:
        hydra: overrides of Hydra itself that a command needs that repeats the job.
        problems: those that have been built already.

    Raises:
        Interrupted: if the process was told to stop; what was reached is saved.
    """
    signals.obey()
    outcome = Outcome()
    store = Store(job.config.output_root)
    folders = {seed: store.run(run_id) for seed, run_id in job.run_ids.items()}
    overrides = [*hydra, *job.overrides]
    try:
        done = [seed for seed, folder in folders.items() if folder.summary() is not None]
    except StorageError as error:  # they may be done: nothing is written into them
        outcome.failures.append(Failure.of(error, overrides, job.run_ids))
        return outcome
    outcome.skipped += [job.run_ids[seed] for seed in done]
    with ExitStack() as locks:
        missing = {seed: folder for seed, folder in folders.items() if seed not in done}
        try:
            mine = take_locks(missing, locks)
            # Another process may have finished a run between the look and the lock.
            late = [seed for seed, folder in mine.items() if folder.summary() is not None]
        except StorageError as error:
            outcome.failures.append(Failure.of(error, overrides, job.run_ids))
            return outcome
        except (OSError, UserError) as error:
            _Computation(job.config, overrides, folders, missing, outcome).fail(error)
            return outcome
        outcome.locked += [job.run_ids[seed] for seed in folders if seed not in done and seed not in mine]
        outcome.skipped += [job.run_ids[seed] for seed in late]
        left = {seed: folder for seed, folder in mine.items() if seed not in late}
        if left:
            computation = _Computation(job.config, overrides, folders, left, outcome)
            try:
                computation.compute(store, problems)
            except signals.Interrupted:
                computation.leave()
                raise
    outcome.places = logger_of(job.config).places()
    return outcome


@dataclass
class _Computation:
    """The runs `left` to this process, whose locks it holds."""

    config: DictConfig
    overrides: Sequence[str]
    folders: dict[int, RunFolder]
    left: dict[int, RunFolder]
    outcome: Outcome

    def compute(self, store: Store, problems: Problems) -> None:
        """Computes batch after batch until no run is left; failures go into the outcome."""
        try:
            # A worker has no preflight, and another number of threads rounds differently.
            require_compiler(self.config.compile, present_device(self.config.device))
            torch.set_num_threads(threads(self.config))
            keep_freed_memory()
            with heard_by(PreparationLogging(logger_of(self.config), self._open)), self._noted():
                runs = task_of(self.config).start(self.config, store, problems)
        except (Exception, SystemExit) as error:
            self.fail(error)
            return
        alone = False

        def together(seeds: Sequence[int]) -> bool:
            nonlocal alone  # what was refused once is not tried again for fewer
            alone = alone or not runs.together(seeds)
            return not alone

        while self.left:
            signals.obey()
            try:
                batch = next_batch(self.folders, self.left, together=together)
            except BatchElsewhereError as elsewhere:
                self._leave_alone(elsewhere)
                continue
            except (OSError, StorageError) as error:
                self.fail(error)
                return
            try:
                self._compute_batch(runs, batch)
            except SeedError as error:
                # The other seeds of the batch go on without those that failed.
                with suppress(OSError):
                    batch.checkpoint.unlink(missing_ok=True)
                met = [seed for seed in error.seeds if seed in self.left]
                self.fail(error, met or [seed for seed in batch.seeds if seed in self.left])
            except (Exception, SystemExit) as error:  # code of the user's own may call sys.exit
                if unwritten := [seed for seed in batch.seeds if seed in self.left]:
                    self.fail(error, unwritten)
                else:
                    warn(f"after the results were written: {one_sentence(error)}")

    def _compute_batch(self, runs: Runs, batch: RunBatch) -> None:
        logger = logger_of(self.config)
        wanted = {seed: self.left[seed] for seed in batch.seeds if seed in self.left}
        told, device = self._told(), device_type(self.config.device)
        manifests = start_runs(self._written, device, wanted, logger, told)
        ids = [folder.run_id if seed in wanted else None for seed, folder in batch.folders.items()]
        heard = heard_by(BatchLogging(logger, ids))
        with heard, self._noted(), closing(runs.compute(batch)) as results:
            for result in results:
                if (folder := wanted.get(result.seed)) is not None:
                    folder.lock.require()
                    sources = sources_of(batch.checkpoint)
                    about = {"settings": told["settings"], "sources": sources}
                    finish_run(self.config, result, folder, manifests[result.seed], logger, about)
                    del self.left[result.seed]
                    self.outcome.done.append(folder.run_id)
        batch.checkpoint.unlink(missing_ok=True)

    def _noted(self) -> AbstractContextManager[None]:
        """While it lasts, the locks of the runs that are left say how far this process is."""
        return current().noted_by(lambda work: note([folder.lock for folder in self.left.values()], work))

    def _told(self) -> dict[str, Any]:
        """What the logger is told of each run besides its manifest."""
        places = searched(self.overrides)
        return {"settings": changed_settings(self._written, places), "searched": places}

    @cached_property
    def _written(self) -> dict[str, Any]:
        return written_run(self.config)

    def _open(self) -> list[str]:
        """Makes the runs that are left known to the logger; their ids."""
        about = {"git": git(), **self._told()}
        for seed, folder in self.left.items():
            logger_of(self.config).start(folder.run_id, self._written | {"seed": seed}, about)
        return [folder.run_id for folder in self.left.values()]

    def leave(self) -> None:
        """Tells the logger that the runs that are left go on another time."""
        for folder in self.left.values():
            logger_of(self.config).finish(folder.run_id, {"status": "interrupted"}, failed=True)

    def _leave_alone(self, elsewhere: BatchElsewhereError) -> None:
        """Leaves runs of an interrupted batch to the process that has the others, or to a command for all."""
        if elsewhere.batch:
            self.fail(elsewhere, elsewhere.seeds, elsewhere.batch)
            return
        for folder in (self.left.pop(seed) for seed in elsewhere.seeds):
            logger_of(self.config).finish(folder.run_id, {"status": "interrupted"}, failed=True)
            self.outcome.locked.append(folder.run_id)

    def fail(
        self, error: BaseException, seeds: Sequence[int] | None = None, repeat: Sequence[int] = ()
    ) -> None:
        """Notes why the runs of these seeds were not computed.

        Args:
            seeds: None for all that are left.
            repeat: the seeds of the command that computes them; the same by default.
        """
        runs = {seed: self.left.pop(seed) for seed in (list(self.left) if seeds is None else seeds)}
        ids = {seed: folder.run_id for seed, folder in runs.items()}
        error = storage_error(error) or memory_error(error, self._written, len(runs)) or error
        failure = Failure.of(error, self.overrides, ids, repeat)
        self.outcome.failures.append(failure)
        logger = logger_of(self.config)
        texts = config_texts(self._written, runs)
        for seed, folder in runs.items():
            logger.finish(folder.run_id, failure.to_json(), failed=True)
            if not folder.lock.lost:
                with suppress(OSError, StorageError):
                    folder.fail(failure.to_json(), texts[seed])
