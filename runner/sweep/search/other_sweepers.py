"""Sweeps by the other sweepers that Hydra has, which decide on the jobs themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import JobReturn

from runner.config.compose import CONFIG, initialise, one_sentence_errors
from runner.execution import signals
from runner.execution.memory.garbage import imported
from runner.sweep.ending import swept
from runner.sweep.launchers.returned import outcome_of
from runner.sweep.outcome import Outcome, failures_in_words


def leave_to_hydra(lines: Sequence[str]) -> int:
    """A sweep by one of Hydra's other sweepers: it decides on the jobs, we compute each; the exit status."""
    from runner.sweep.job_runner import job

    imported()
    initialise()
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    with signals.commanding(), one_sentence_errors():
        returned = hydra.multirun(CONFIG, job, list(lines), with_log_configuration=False)
    outcome = Outcome()
    for each in _jobs_in(returned):
        outcome.add(outcome_of(each))
    signals.obey()
    if outcome.failures:
        print(failures_in_words(outcome.failures), file=sys.stderr)
    return swept(outcome, outcome.status) if outcome != Outcome() else 0


def _jobs_in(returned: Any) -> Iterator[JobReturn]:
    """The jobs that a sweeper returns, in lists of any depth; none where it returns something else."""
    if isinstance(returned, JobReturn):
        yield returned
    elif isinstance(returned, list):
        for each in returned:
            yield from _jobs_in(each)
