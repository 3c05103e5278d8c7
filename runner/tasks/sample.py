"""The task `sample`: run a sampler on a target and measure its draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from metrics.suite import MetricSuite
from runner.execution.checkpoint import UnusableCheckpointError, from_plain, to_plain
from runner.execution.errors import warn
from runner.execution.stopwatch import Stopwatch
from runner.problem.build import Problem, beta, label
from runner.store.run_files import Measured, Record
from samplers.kernel import State
from targets.randomness import Streams

BLOCK_STEPS, BLOCK_SECONDS = 100, 1.0
"""How long the loop goes on before it looks up: progress, signals, NaN, checkpoint."""

COUNTS = ("step", "evaluations", "seconds", "wall_seconds", "records")
"""The attributes of a `Sampling` that are plain numbers and lists."""


@dataclass
class Sampling:
    """Where a batch of runs stands, one run for each of `seeds`.

    Attributes:
        state: the kernel's state, batch ``(*kernel.axes, seeds, chains)``.
        evaluations: evaluations of the target per chain, all replicas counted, the initial state not.
        seconds: what the steps took; metrics, files and tuning are not in it. Of the whole batch.
        wall_seconds: what the loop took, metrics included. Of the whole batch.
        records: what was measured at the recorded points.
        pulse: sum of the acceptance probabilities of a block, ``(seeds, chains)``; a NaN stays in it.
    """

    seeds: Sequence[int]
    state: State
    streams: Streams
    suite: MetricSuite
    pulse: Tensor
    step: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    wall_seconds: float = 0.0
    records: list[dict[str, Any]] = field(default_factory=list)

    def record(self) -> None:
        """Notes the metrics as they stand: step, evaluations, seconds, a value per seed of each metric."""
        values = {name: value.tolist() for name, value in self.suite.result().items()}
        record = {
            "step": self.step,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "values": values,
        }
        self.records.append(record)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on."""
        counts = {name: getattr(self, name) for name in COUNTS}
        parts = {"state": to_plain(self.state), "streams": self.streams.state_dict()}
        return {**counts, **parts, "suite": self.suite.state_dict()}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues where `saved` was.

        Raises:
            UnusableCheckpointError: if it does not belong to these runs.
        """
        try:
            self.state = from_plain(self.state, saved["state"])
            self.streams.load_state_dict(saved["streams"])
            self.suite.load_state_dict(saved["suite"])
            self.step, self.evaluations = int(saved["step"]), int(saved["evaluations"])
            self.seconds, self.wall_seconds = float(saved["seconds"]), float(saved["wall_seconds"])
            self.records = list(saved["records"])
        except UnusableCheckpointError:
            raise
        except Exception as error:
            raise UnusableCheckpointError("does not fit this run") from error

    def not_a_number(self) -> list[int]:
        """The seeds whose chains met NaN as a log density since the last call, or stand at infinity."""
        log_prob = _by_seed(self.state.log_prob)
        bad = self.pulse.isnan().any(-1) | ~log_prob.isfinite().all(-1)
        self.pulse.zero_()
        return [seed for seed, is_bad in zip(self.seeds, bad.tolist(), strict=True) if is_bad]


def begin(problem: Problem, seeds: Sequence[int]) -> Sampling:
    """A batch of runs before their first step."""
    theta = problem.start(problem.kernel.axes, seeds)
    state = problem.kernel.init(problem.target, theta, beta(problem))
    pulse = torch.zeros((len(seeds), problem.settings.chains), dtype=theta.dtype, device=problem.device)
    return Sampling(seeds, state, Streams(seeds, "chain", problem.device), problem.suite(seeds), pulse)


@torch.no_grad()
def sample(problem: Problem, run: Sampling, at_block: Callable[[Sampling], None]) -> None:
    """Takes `run` to its last step; `at_block` is called whenever it may be looked at or saved."""
    kernel, target, settings, one = problem.kernel, problem.target, problem.settings, beta(problem)
    points, watch = settings.points(), Stopwatch(problem.device)
    block = min(BLOCK_STEPS, problem.config.checkpoint.steps or BLOCK_STEPS)
    while run.step < settings.steps:
        until = min(run.step + block, next(point for point in points if point > run.step))
        begun = time.monotonic()
        while run.step < until and time.monotonic() < begun + BLOCK_SECONDS:
            watch.start()
            run.state, info = kernel.step(target, run.state, one, run.streams)
            watch.stop()
            run.step += 1
            run.evaluations += info.evaluations
            run.pulse += info.acceptance
            if run.step > settings.burn_in:
                run.suite.update(run.step, kernel.draws(run.state), info)
        run.seconds += watch.lap()
        if run.step in points:
            run.record()
        run.wall_seconds += time.monotonic() - begun
        at_block(run)


def measured(problem: Problem, run: Sampling, seed: int) -> Measured:
    """What the run of one seed of the batch measured; the batch's time is shared evenly among its runs.

    Warns where simulated tempering visited its levels more unevenly than STMH, Lemma 22 has it.
    """
    place, runs = list(run.seeds).index(seed), len(run.seeds)
    records = [
        Record(
            record["step"],
            record["evaluations"],
            record["seconds"] / runs,
            {metric: by_seed[place] for metric, by_seed in record["values"].items()},
        )
        for record in run.records
    ]
    last = records[-1]
    records[-1] = replace(last, values={**last.values, **problem.beside})
    if last.values.get("level_occupancy_uneven") == 1.0:
        warn(
            f"seed {seed}: a level has more than e^2 times an even share of the steps, or less than e^-2 of "
            "one; the partition functions are off, or the run is too short to walk the ladder."
        )
    return Measured(
        target=problem.target_name or label(problem.config, "target"),
        sampler=label(problem.config, "sampler"),
        seed=seed,
        records=records,
        steps=run.step,
        evaluations=run.evaluations,
        seconds=run.seconds / runs,
        wall_seconds=run.wall_seconds / runs,
        batch=runs,
        exact=bool(problem.kernel.exact),
        axes=problem.kernel.axes,
        notes=problem.notes,
        model=problem.model,
    )


def _by_seed(values: Tensor) -> Tensor:
    """``(*axes, seeds, chains)`` as ``(seeds, everything else)``."""
    return values.movedim(-2, 0).flatten(1)
