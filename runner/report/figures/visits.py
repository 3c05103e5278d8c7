"""What runs visited of the states of a small space, for the panels that draw them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runner.report.runs.experiment_run import Run
from runner.store.arrays.array_files import load_visits

WIDEST_GAP = 0.03
"""Ends of the colours of gaps between shares and probabilities where a panel has no `limits`."""


def counts(runs: Sequence[Run]) -> np.ndarray | None:
    """Visits of each run to each state, ``(runs, size)``; None where no finished run stored them."""
    found = [load_visits(run.folder.path) for run in runs if run.summary is not None]
    known = [each for each in found if each is not None]
    return np.stack(known) if known else None


def shares(runs: Sequence[Run]) -> np.ndarray | None:
    """Share of a run's draws in each state, ``(runs, size)``; None where no run stored its visits."""
    found = counts(runs)
    return None if found is None else found / found.sum(1, keepdims=True)


def pooled(runs: Sequence[Run]) -> np.ndarray | None:
    """Share of all runs' draws in each state, ``(size,)``; None where no run stored its visits."""
    found = counts(runs)
    return None if found is None else found.sum(0) / found.sum()
