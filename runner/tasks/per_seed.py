"""The tasks that compute each seed on its own, by name."""

from __future__ import annotations

from collections.abc import Callable

from omegaconf import DictConfig

from runner.store.run_files import RunResult
from runner.store.run_store import RunFolder, Store
from runner.tasks.evaluate import evaluate
from runner.tasks.gaps.spectral_gap import spectral_gap
from runner.tasks.images.autoencode import autoencode, check_autoencoding
from runner.tasks.images.classify import check_classifying, classify
from runner.tasks.learn import learn

Task = Callable[[DictConfig, int, Store, RunFolder], RunResult]
"""Takes the configuration, the seed, where models are kept and the run's folder; gives what was measured."""

TASKS: dict[str, Task] = {
    "learn": learn,
    "evaluate": evaluate,
    "autoencode": autoencode,
    "classify": classify,
    "spectral_gap": spectral_gap,
}

ON_IMAGES: dict[str, Callable[[DictConfig], None]] = {
    "autoencode": check_autoencoding,
    "classify": check_classifying,
}
"""The tasks that work on a sampler's images, and what tries their own settings before any work."""
