"""How long the training of a model will take, from a few iterations of it; nothing is written."""

from __future__ import annotations

import time
from collections.abc import Callable

from omegaconf import DictConfig

from runner.models.learned_target import begin_training
from runner.models.recipe import Recipe
from runner.models.training import Training

ITERATIONS = 2
"""Iterations that are timed after the first, which pays for imports, tuning and compiling."""

MORE, QUICK = 30, 0.5
"""Iterations that are timed in their place where those took fewer seconds: the next ones are still slower."""

TEMPERATURES = 6
"""Temperatures of a validation that are timed."""

SLOW = 5.0
"""Seconds of a first iteration after which no others are tried, where it neither tunes nor compiles."""


def training_seconds(recipe: Recipe, config: DictConfig) -> float:
    """Seconds of all iterations, tunings and validations of the training of `recipe`.

    Raises:
        UserError: if the training cannot begin.
    """
    training, _ = begin_training(recipe, config)
    iteration = first = seconds_of(lambda: training.advance(1))
    plain = training.chains.tunable is None and training.settings.compiled is False
    if first < SLOW or not plain:
        iteration = seconds_of(lambda: training.advance(ITERATIONS)) / ITERATIONS
        if iteration * ITERATIONS < QUICK and training.iteration + MORE <= training.settings.iterations:
            iteration = seconds_of(lambda: training.advance(MORE)) / MORE
    tuning = _tunings(training) * max(0.0, first - iteration)
    return training.settings.iterations * iteration + tuning + _validating(training)


def _tunings(training: Training) -> int:
    """How often the sampler is tuned, the first time included."""
    every = training.settings.tune_every
    if training.chains.tunable is None or every is None:
        return 1
    return -(-training.settings.iterations // every)


def _validating(training: Training) -> float:
    """Seconds of all validations."""
    every, scoring = training.settings.validate_every, training.selection.validation
    if every is None or scoring is None:
        return 0.0
    scoring.begin(0, training.optimiser.averaged)
    tried = min(TEMPERATURES, len(scoring.betas) - 1)
    each = seconds_of(lambda: scoring.advance(tried)) / tried
    return -(-training.settings.iterations // every) * (len(scoring.betas) - 1) * each


def seconds_of(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    begun_at = time.perf_counter()
    call()
    return time.perf_counter() - begun_at
