"""Tuned hyperparameters: found once, written as JSON, shared by all runs of a sampler on a target."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from runner.config.key_group import node
from runner.execution.errors import RunError, UserError, one_sentence, warn
from runner.execution.manifest import git, now
from runner.files.atomic_files import read_json, write_json
from runner.files.compute_once import compute_once, discard_damaged
from runner.files.resumable import completed, save_plan, sources_of
from runner.models.identity import tuning_effort, tuning_id
from runner.problem.build import Problem, label
from runner.problem.trials import check_kernel
from runner.store.run_store import Store
from runner.store.short_hash import SCHEMA
from samplers.pilot_run import PilotRun
from samplers.tuning.tunable import WARNINGS, TuningResult
from targets.randomness import Streams

TUNING_SEED = 0
"""Tuning is no part of a run: its random numbers are the same whatever the runs' seeds."""

TRIED_SECONDS = 20.0
"""Of a pilot before its rest is estimated, by the second half of them."""

TRIED_EFFORT = 0.05
"""Of the pilot whose result stands in then."""

READ = ("hyperparameters", "seconds", "evaluations", "report", "sources")
"""What of its file a run needs."""


def tuned(problem: Problem, store: Store) -> tuple[Problem, dict[str, Any] | None]:
    """`problem` with a tuned kernel, and what the tuning was; None where nothing was left to tuning.

    The first process that needs a tuning result computes it; others wait for it. The hyperparameters take
    effect as read from the file, so that all runs have the same ones.

    Raises:
        RunError: if the sampler cannot be tuned to the target, or the tuned kernel is refused.
        Interrupted: if the process is told to stop; what was reached is saved.
    """
    tunable = problem.tunable
    if tunable is None:
        return problem, None
    path = _place(problem, store)
    result = compute_once(path.with_suffix(".lock"), partial(_read, path), lambda: _make(problem, path))
    for sentence in (result["report"] or {}).get(WARNINGS, ()):
        warn(f"tuning {label(problem.config, 'sampler')} to {_target(problem)}: {sentence}.")
    problem = problem.with_kernel(tunable.kernel_at(result["hyperparameters"]))
    try:
        check_kernel(problem)  # Before the tuning its example was: with other numbers, on an untrained model.
    except UserError as error:
        raise RunError(str(error)) from error
    return problem, {"artefact": path.stem, **result}


def _place(problem: Problem, store: Store) -> Path:
    return store.tuning(tuning_id(problem.config, problem.device.type))


def tuned_for_trial(problem: Problem) -> tuple[Problem, float]:
    """`problem` with a kernel tuned as its runs are, or about so where no pilot has been run; writes nothing.

    Also gives the seconds of the pilot.
    """
    assert problem.tunable is not None
    if (kept := _read(_place(problem, Store(problem.config.output_root)))) is not None:
        hyperparameters, seconds = kept["hyperparameters"], float(kept["seconds"] or 0.0)
    else:
        found, seconds = tuning_trial(problem)
        hyperparameters = found.hyperparameters
    return problem.with_kernel(problem.tunable.kernel_at(hyperparameters)), seconds


def tuning_trial(problem: Problem) -> tuple[TuningResult, float]:
    """About what the sampler's pilot finds on this target, and the seconds that it takes; writes nothing.

    A pilot that is not over after `TRIED_SECONDS` is taken to go on as in the second half of them to the end
    of its plan, which it seldom reaches, and one of small effort gives the result; where that fails the whole
    pilot is run.
    """
    work = _Tuning(problem)
    half = 0.0, 0
    while work.run.result is None and work.seconds < TRIED_SECONDS:
        if work.seconds < TRIED_SECONDS / 2:
            half = work.seconds, work.position
        work.advance()
    if work.run.result is None and work.run.effort > TRIED_EFFORT:
        rate = (work.seconds - half[0]) / (work.position - half[1])
        seconds = work.seconds + rate * (work.total - work.position)
        with suppress(RunError):
            return _ended(_Tuning(problem, TRIED_EFFORT)), seconds
    return _ended(work), work.seconds


def _ended(work: _Tuning) -> TuningResult:
    while work.run.result is None:
        work.advance()
    return work.run.result


def _target(problem: Problem) -> str:
    return problem.target_name or label(problem.config, "target")


class _Tuning:
    """The pilot of a problem's sampler as resumable work.

    Args:
        effort: how much it may do; None for what the configuration says.

    Attributes:
        seconds: that it has taken, those before an interruption counted.
    """

    def __init__(self, problem: Problem, effort: float | None = None) -> None:
        assert problem.tunable is not None
        config = problem.config
        self.name, self.target = label(config, "sampler"), config.target._target_
        self.title = f"tuning {self.name} to {_target(problem)}"
        streams = Streams([TUNING_SEED], "tuning", problem.device)
        effort = tuning_effort(config) if effort is None else effort
        self.run = PilotRun(problem.tunable.tuning, problem.target, streams, effort)
        self.seconds = 0.0

    @property
    def total(self) -> int:
        return self.run.total

    @property
    def position(self) -> int:
        return self.run.position

    @property
    def done(self) -> bool:
        return self.run.done

    def advance(self) -> None:
        """Raises RunError if the sampler cannot be tuned to the target."""
        started = time.perf_counter()
        try:
            self.run.advance()
        except ValueError as error:
            raise RunError(f"The sampler cannot be tuned to {self.target}: {one_sentence(error)}.") from error
        self.seconds += time.perf_counter() - started

    def state_dict(self) -> dict[str, Any]:
        return {"seconds": self.seconds, **self.run.state_dict()}

    def load_state_dict(self, saved: Mapping[str, Any], /) -> None:
        self.run.load_state_dict(saved)
        self.seconds = float(saved["seconds"])


def _make(problem: Problem, path: Path) -> None:
    """Runs the pilot, from its checkpoint where there is one, and writes what it found."""
    plan = save_plan(path.with_suffix(".pt"), problem.config.checkpoint, owner={"tuning": path.stem})
    with completed(lambda: _Tuning(problem), plan) as work:
        found = work.run.result
        assert found is not None
        content = {
            "schema": SCHEMA,
            "seconds": work.seconds,
            "evaluations": found.evaluations,
            "report": found.report,
            "trace": work.run.trace,
            "hyperparameters": found.hyperparameters,
            "target": node(problem.config, "target"),
            "sampler": node(problem.config, "sampler"),
            "effort": work.run.effort,
            "sources": sources_of(plan.path),
            "created": now(),
            "git": git(),
        }
        try:
            json.dumps(content, allow_nan=False)
        except ValueError as error:
            said = f"Tuning {path.stem} found no usable hyperparameters: {one_sentence(error)}."
            raise RunError(said) from error
        write_json(path, content)


def _read(path: Path, *, locked: bool = False) -> dict[str, Any] | None:
    """The part of a tuning result that a run needs; see `runner.files.compute_once.Reader`."""
    if not path.exists():
        return None
    content = read_json(path)
    if content is None or not isinstance(content.get("hyperparameters"), Mapping):
        discard_damaged(path, "it is no tuning result", locked=locked)
        return None
    return {key: content.get(key) for key in READ}
