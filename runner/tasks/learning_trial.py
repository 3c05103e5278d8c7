"""How long a run of the task `learn` will take, from a few iterations and temperatures of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from metrics.likelihood.ais_schedule import schedule
from runner.models.learned_target import begin_training
from runner.models.recipe import recipe_of
from runner.models.training import Training
from runner.tasks.likelihood.ais_settings import AISSettings, ais_settings
from runner.tasks.likelihood.model_likelihood import TRAINING_IMAGES, likelihood
from targets import Dataset, Target

ITERATIONS = 2
"""Iterations that are timed after the first, which pays for imports and for tuning."""

TEMPERATURES = (2, 6)
"""Lengths of two annealings: what one pays once is in both and drops out."""

IMAGES = 10
"""Test and training images of such an annealing."""


def learning_seconds(config: DictConfig, seed: int) -> float:
    """Seconds of training, validating, tuning and annealing that the run of `seed` will take.

    Everything is tried on a model that is not trained, in memory but for a checkpoint in a temporary folder;
    an annealing of a trained one takes as long.

    Raises:
        UserError: if the training cannot begin.
    """
    recipe, settings = recipe_of(config, seed), ais_settings(config)
    training, data = begin_training(recipe, config)
    first = _seconds(lambda: training.advance(1))
    iteration = _seconds(lambda: training.advance(ITERATIONS)) / ITERATIONS
    chain = _a_temperature(training.target, data, settings, config) / (settings.chains * settings.repeats)
    return (
        recipe.settings.iterations * iteration
        + _tunings(training) * max(0.0, first - iteration)
        + 2 * chain * settings.chains * settings.repeats * (len(settings.betas) - 1 + settings.draw_steps / 2)
        + chain * (len(data.test) + min(TRAINING_IMAGES, len(data.train)))
        + chain * _validating(training)
    )


def _tunings(training: Training) -> int:
    """How often the sampler is tuned, the first time included."""
    every = training.settings.tune_every
    if training.chains.tunable is None or every is None:
        return 1
    return -(-training.settings.iterations // every)


def _validating(training: Training) -> int:
    """Temperatures times chains of all validations."""
    every, scoring = training.settings.validate_every, training.selection.validation
    if every is None or scoring is None:
        return 0
    return -(-training.settings.iterations // every) * (len(scoring.betas) - 1) * scoring.settings.chains


def _a_temperature(target: Target, data: Dataset, settings: AISSettings, config: DictConfig) -> float:
    """Seconds of one temperature of one annealing with all its chains."""
    few = replace(data, train=data.train[:IMAGES], test=data.test[:IMAGES])

    def anneal(temperatures: int) -> float:
        short = replace(settings, betas=schedule(temperatures, "linear"), draw_steps=1)
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder) / "checkpoint.pt"
            return _seconds(lambda: likelihood(target, few, short, 0, config, there))

    short, long = TEMPERATURES
    anneal(short)  # pays for imports
    return max(0.0, anneal(long) - anneal(short)) / (2 * (long - short))


def _seconds(call: Callable[[], object]) -> float:
    begun_at = time.perf_counter()
    call()
    return time.perf_counter() - begun_at
