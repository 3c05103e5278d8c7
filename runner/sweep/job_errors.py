"""Errors that say which of several jobs they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from omegaconf.errors import OmegaConfBaseException

from runner.config.compose import error_in_words
from runner.execution.errors import UserError


@contextmanager
def in_job(overrides: Sequence[str], jobs: int) -> Iterator[None]:
    """Says in an error that the user can correct which of several jobs it is about.

    Raises:
        UserError: also for an error of OmegaConf.
    """
    try:
        yield
    except (UserError, OmegaConfBaseException) as error:
        if jobs == 1 and isinstance(error, UserError):
            raise
        said = str(error) if isinstance(error, UserError) else error_in_words(error)
        if jobs > 1:
            where = " ".join(line for line in overrides if not line.startswith("seed="))
            said = f"{said.rstrip('.')} (job: {where})."
        raise UserError(said) from error
