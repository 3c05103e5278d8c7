"""The task `sample`: run a sampler on a target and measure its draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from metrics.suite import MetricSuite
from runner.execution.compiling.compiled_stepper import stepper_from
from runner.execution.errors import DivergenceError, counted, warn
from runner.execution.live import Point, say_recorded
from runner.execution.stopwatch import Stopwatch
from runner.files.checkpoint import UnusableCheckpointError, from_plain, of_the_moment, to_plain
from runner.problem.build import Problem, beta, label
from runner.problem.last_states import is_own, misplaced_seeds
from runner.store.arrays.pictures import Pictures, suite_pictures
from runner.tasks.runs import SeedError
from runner.tasks.stream_seeds import stream_seeds
from samplers.choice import of_chains
from samplers.compiling.counter_streams import CounterStreams
from samplers.kernel import State
from samplers.seed_blocks import in_seed_blocks
from samplers.stepper import Stepper
from targets.randomness import Streams
from targets.spaces import Real
from targets.trial.coarse_density import coarse_density
from targets.trial.zero_density import zero_density_hint

BLOCK_STEPS, BLOCK_SECONDS = 100, 1.0
"""The longest block of steps between two looks at NaN, progress, signals and the checkpoint."""

COUNTS = ("step", "evaluations", "seconds", "wall_seconds", "records")
"""The attributes of a `Sampling` that are plain numbers and lists."""


class NotANumberError(SeedError, DivergenceError):
    """Chains of some seeds met a log density that is NaN or infinite, or stand at such an auxiliary.

    `hint`: the end of the sentence, what may be the reason.
    """

    def __init__(
        self,
        target: str,
        step: int,
        seeds: list[int],
        auxiliary: str | None = None,
        *,
        hint: str = "",
    ) -> None:
        said = f"The target {target} gave NaN or infinity as a log density"
        if auxiliary is not None:
            said = f"The auxiliary variable {auxiliary} of the chains on {target} became NaN or infinite"
        super().__init__(f"{said} by step {step} (seed {', '.join(map(str, seeds))}){hint}.", seeds)


class MisplacedError(SeedError):
    """Chains of some seeds ended at no states of the space, or with log densities that are not theirs."""

    def __init__(self, wrong: Mapping[int, str]) -> None:
        seed, what = next(iter(wrong.items()))
        super().__init__(f"{what}; this was found in the last states of seed {seed}.", list(wrong))


@dataclass
class Sampling:
    """A batch of runs on its way, one run for each of `seeds`; a `runner.files.resumable.Resumable`.

    Attributes:
        state: the kernel's state, batch ``(*kernel.axes, seeds, chains)``.
        acceptance_sum: of a block, over the rungs of a ladder too, ``(seeds, chains)``; a NaN stays in it.
        evaluations: evaluations of the target per chain, all replicas counted, the initial state not.
        seconds: what the steps took; metrics, files and tuning are not in it. Of the whole batch.
        wall_seconds: what the loop took, metrics included. Of the whole batch.
        records: what was measured at the recorded points.
        warned: whether the log density was said to be too large for its precision.
    """

    problem: Problem
    seeds: Sequence[int]
    state: State
    streams: Streams
    suite: MetricSuite
    acceptance_sum: Tensor
    step: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    wall_seconds: float = 0.0
    records: list[dict[str, Any]] = field(default_factory=list)
    warned: bool = False

    @property
    def title(self) -> str:
        """Target, sampler and the number of seeds."""
        config = self.problem.config
        return f"{label(config, 'target')} / {label(config, 'sampler')}, {counted(len(self.seeds), 'seed')}"

    @property
    def total(self) -> int:
        """Steps of every chain."""
        return self.problem.settings.steps

    @property
    def position(self) -> int:
        """Steps that are done."""
        return self.step

    @property
    def done(self) -> bool:
        """Whether the last step is done."""
        return self.step >= self.total

    def advance(self) -> None:
        """A block of steps, as `walk` takes it.

        Raises:
            NotANumberError: if chains met NaN.
            MisplacedError: where the last states are not what they should be.
        """
        self.walk()
        target = str(self.problem.config.target._target_)
        if bad := self.not_a_number():
            raise NotANumberError(target, self.step, bad, hint=self._hint())
        for name in self.problem.kernel.persistent_aux:
            values = self.state.aux[name]
            own = of_chains(values, self.state.log_prob.shape)
            if own and (bad := self._seeds_where(~values.isfinite())):
                raise NotANumberError(target, self.step, bad, name)
        if self.done and (
            wrong := misplaced_seeds(self.problem.config, self.problem.target, self.state, self.seeds)
        ):
            raise MisplacedError(wrong)
        # Chains may have begun far from where they draw.
        if not self.warned and self.step > self.problem.settings.burn_in:
            if coarse := coarse_density(self.state.log_prob):
                warn(f"{self.title}: {coarse}.")
            self.warned = bool(coarse)

    def _hint(self) -> str:
        """What may be the reason of a log density that is NaN or infinite, as the end of a sentence."""
        # Chains that take every move may have been carried off by their own step.
        if not self.problem.kernel.exact and isinstance(self.problem.target.space, Real):
            return ", or the step size of the unadjusted sampler is too large"
        if bool(self.state.log_prob.isfinite().all()) and is_own(self.problem.config, "sampler"):
            return ", or the sampler gave NaN as Info.acceptance"
        return zero_density_hint(self.problem.target, self.state.log_prob)

    @torch.no_grad()
    def walk(self) -> None:
        """Takes the steps up to the next recorded point, at most 100 of them or a second."""
        problem, settings = self.problem, self.problem.settings
        kernel, points = problem.kernel, settings.points()
        watch, stepper = Stopwatch(problem.device), self.stepper
        block = min(BLOCK_STEPS, problem.config.checkpoint.steps or BLOCK_STEPS)
        until = min(self.step + block, next(point for point in points if point > self.step))
        started = time.monotonic()
        while self.step < until and time.monotonic() < started + BLOCK_SECONDS:
            watch.start()
            self.state, info = stepper(self.state)
            watch.stop()
            self.step += 1
            self.evaluations += info.evaluations
            self.acceptance_sum += info.acceptance if info.rungs is None else info.rungs.sum(0)
            if self.step > settings.burn_in:
                self.suite.update(self.step, kernel.draws(self.state), info)
        self.seconds += watch.lap()
        if self.step in points:
            self.record()
        self.wall_seconds += time.monotonic() - started

    @cached_property
    def stepper(self) -> Stepper:
        """What takes the steps; made, and compiled where that is asked for, at first use."""
        problem = self.problem
        parts = problem.kernel, problem.target, beta(problem), self.streams
        return stepper_from(self.state, *parts, problem.compiled)

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
        self._say(record, partial(suite_pictures, self.suite, shape=self.problem.image_shape))

    def _say(self, record: Mapping[str, Any], pictures: Callable[[int], Pictures] | None = None) -> None:
        """Says what was recorded to who listens, unless it is the result, which the caller gets."""
        if self.step < self.total or record is not self.records[-1]:
            values, runs = record["values"], len(self.seeds)
            own = [{name: by_seed[place] for name, by_seed in values.items()} for place in range(runs)]
            seconds = record["seconds"] / runs
            say_recorded(Point(record["step"], record["evaluations"], seconds, own, pictures))

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
            for record in self.records:
                self._say(record)
        except UnusableCheckpointError:
            raise
        except Exception as error:
            if of_the_moment(error):
                raise
            raise UnusableCheckpointError("does not fit this run") from error

    def not_a_number(self) -> list[int]:
        """The seeds whose chains met NaN as a log density since the last call, or stand at infinity."""
        bad = self._seeds_where(self.acceptance_sum.isnan() | ~self.state.log_prob.isfinite())
        self.acceptance_sum.zero_()
        return bad

    def _seeds_where(self, bad: Tensor) -> list[int]:
        """The seeds for which any of ``(*axes, seeds, chains, ...)`` is true."""
        place = self.state.log_prob.dim() - 2
        found = bad.movedim(place, 0).flatten(1).any(-1).tolist()
        return [seed for seed, is_bad in zip(self.seeds, found, strict=True) if is_bad]


def begin(problem: Problem, seeds: Sequence[int]) -> Sampling:
    """A batch of runs before their first step."""
    problem = replace(problem, target=in_seed_blocks(problem.target, len(seeds)))
    own = stream_seeds(problem.config, seeds)
    theta = problem.start(problem.kernel.axes, own)
    streams = (CounterStreams if problem.compiled else Streams)(own, "chain", problem.device)
    state = problem.kernel.start(problem.target, theta, beta(problem), streams)
    zeros = torch.zeros((len(seeds), problem.settings.chains), dtype=theta.dtype, device=problem.device)
    return Sampling(problem, seeds, state, streams, problem.suite(seeds), zeros)
