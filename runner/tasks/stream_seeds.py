"""Which random numbers a run has: those that all samplers share by seed, or its own.

A seed names one stream of starts and one of steps. Samplers that read it in the same way make related moves:
that is no defect of a run, and paired tests gain from it, but runs of one seed are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import DictConfig

from runner.store.short_hash import short_hash
from runner.tasks.run_identity import stream_identity
from runner.tasks.task import parts_of, task_of
from targets.randomness import derive_seed


def stream_seeds(config: DictConfig, seeds: Sequence[int]) -> list[int]:
    """The seeds of the streams of a configuration's runs: `seeds`, or others for each target and sampler."""
    if not stream_identity(config):
        return list(seeds)
    content = task_of(config).identity(config, parts_of(config))
    own = short_hash({part: content[part] for part in ("target", "sampler")})
    return [derive_seed(seed, f"streams/{own}") for seed in seeds]
