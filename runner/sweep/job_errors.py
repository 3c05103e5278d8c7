"""Errors that say which of several jobs they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from omegaconf.errors import OmegaConfBaseException

from runner.config.compose import error_in_words
from runner.config.tempering import as_written
from runner.execution.errors import UserError


@contextmanager
def in_job(overrides: Sequence[str], jobs: int) -> Iterator[None]:
    """Says in an error that the user can correct which of several jobs it is about, with keys as written.

    Raises:
        UserError: also for an error of OmegaConf.
    """
    try:
        yield
    except (UserError, OmegaConfBaseException) as error:
        kind = type(error) if isinstance(error, UserError) and jobs == 1 else UserError
        said = str(error) if isinstance(error, UserError) else error_in_words(error)
        said = as_written(said, overrides)
        if jobs > 1:
            where = " ".join(line for line in overrides if not line.startswith("seed="))
            said = f"{said.rstrip('.')} (job: {where})."
        raise kind(said) from error
