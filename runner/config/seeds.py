"""The seeds of a job: one whole number or several."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, ListConfig

from runner.execution.errors import UserError

LARGEST_BATCH = 32
"""Seeds computed together at most; a longer sweep over seeds is cut into jobs of this size."""


def seeds_of(config: DictConfig) -> list[int]:
    """The seeds that `config` asks for, in its order.

    Raises:
        UserError: unless they are distinct whole numbers of at least 0.
    """
    given: Any = config.seed
    seeds = list(given) if isinstance(given, ListConfig) else [given]
    whole = all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in seeds)
    if not seeds or not whole or len(set(seeds)) < len(seeds):
        shown = list(given) if isinstance(given, ListConfig) else given
        raise UserError(
            f"seed must be a whole number of at least 0, or a list of distinct ones, {shown!r} was given."
        )
    return seeds
