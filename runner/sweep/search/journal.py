"""The journal of a search: its trials on disk, which one process at a time reads and goes on with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from runner.execution import signals
from runner.execution.errors import warn
from runner.execution.storage_errors import storage_error
from runner.files.atomic_files import SUFFIX, remove_partial, set_aside
from runner.files.locks import Lock, held

if TYPE_CHECKING:
    import optuna

DAMAGE = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What Optuna may raise where lines of a journal are not its own: it checks none of them."""


@contextmanager
def journal_lock(path: Path) -> Iterator[Lock]:
    """The lock of the journal at `path`, after waiting for the search that has it, with its folder made.

    Raises:
        StorageError: if the disk refuses; also for the body.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with held(path.with_suffix(".lock")) as lock:
            yield lock
    except OSError as error:
        if (refused := storage_error(error)) is not None:
            raise refused from error
        raise


def opened(path: Path, direction: str) -> optuna.Study:
    """The study in the journal at `path`, new where there is none; a damaged journal is set aside.

    The lock must be held: a trial that is under way is then one that was interrupted, and is asked again.
    """
    import optuna

    remove_partial(path.parent, path.name)
    study = _undamaged(path, direction) if path.exists() else None
    if study is None:
        study = _study(path, direction)
    for interrupted in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
        ask_again(study, interrupted)
    return study


def ask_again(study: optuna.Study, trial: optuna.trial.FrozenTrial | optuna.trial.Trial) -> None:
    """Gives up a trial that was not measured; the same parameters are what is asked next."""
    import optuna

    with signals.deferred():
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        study.enqueue_trial(trial.params)


def asked_anew(path: Path, study: optuna.Study, wrong: Sequence[optuna.trial.FrozenTrial]) -> optuna.Study:
    """The study without the results of the trials `wrong`, which are asked again; its journal is set aside.

    Optuna lets no finished trial be changed, so that another journal takes its place.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}{SUFFIX}")
    direction, numbers = study.direction.name.lower(), {trial.number for trial in wrong}
    new = _study(draft, direction, path.stem)
    new.add_trials(trial for trial in study.get_trials() if trial.number not in numbers)
    for trial in wrong:
        new.enqueue_trial(trial.params)
    with signals.deferred():
        warn(
            f"the journal {path} has results of {len(wrong)} trials that their runs do not have (any more); "
            f"it was moved to {set_aside(path)}, and these trials are asked again."
        )
        draft.rename(path)
    return _study(path, direction)


def _undamaged(path: Path, direction: str) -> optuna.Study | None:
    """The study in a journal; None, with a sentence, for one that was set aside."""
    try:
        with path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n") or not isinstance(json.loads(line), dict):
                    raise ValueError(line)
        return _study(path, direction)
    except DAMAGE:
        warn(
            f"the journal {path} cannot be used: it is truncated or damaged; it was moved to "
            f"{set_aside(path)}, the search begins another one, whose trials find the runs that are done."
        )
        return None


def _study(path: Path, direction: str, name: str = "") -> optuna.Study:
    """The study in a file, new where there is none; its name is that of the file."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    return optuna.create_study(
        storage=storage, study_name=name or path.stem, direction=direction, load_if_exists=True
    )
