"""How long a run of the task `learn` takes once its model is trained, from a few temperatures of it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import torch
from omegaconf import DictConfig

from metrics.likelihood.ais_schedule import schedule
from runner.execution.devices import floating_point
from runner.models.recipe import data_of, recipe_of, untrained
from runner.models.training_trial import seconds_of
from runner.tasks.likelihood.ais_settings import AISSettings, ais_settings
from runner.tasks.likelihood.model_likelihood import TRAINING_IMAGES, likelihood
from targets import Dataset, Target

TEMPERATURES = (2, 6)
"""Lengths of two annealings: what one pays once is in both and drops out."""

IMAGES = 10
"""Test and training images of such an annealing."""


def annealing_seconds(config: DictConfig, seed: int) -> float:
    """Seconds of the annealing that the run of `seed` will take once its model is trained.

    It is tried on a model that is not trained, in memory but for a checkpoint in a temporary folder; an
    annealing of a trained one takes as long.

    Raises:
        UserError: if there is no such model or data set.
    """
    recipe, settings = recipe_of(config, seed), ais_settings(config)
    data, device = data_of(recipe, config), torch.device(recipe.device)
    target = untrained(recipe, data).to(device=device, dtype=floating_point(recipe.dtype))
    together = settings.chains * settings.repeats
    chain = _a_temperature(target.requires_grad_(False), data, settings, config) / together
    return chain * (
        2 * together * (len(settings.betas) - 1 + settings.draw_steps / 2)
        + len(data.test)
        + min(TRAINING_IMAGES, len(data.train))
    )


def _a_temperature(target: Target, data: Dataset, settings: AISSettings, config: DictConfig) -> float:
    """Seconds of one temperature of one annealing with all its chains."""
    few = replace(data, train=data.train[:IMAGES], test=data.test[:IMAGES])

    def anneal(temperatures: int) -> float:
        short = replace(settings, betas=schedule(temperatures, "linear"), draw_steps=1)
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder) / "checkpoint.pt"
            return seconds_of(lambda: likelihood(target, few, short, 0, config, there))

    short, long = TEMPERATURES
    anneal(short)  # pays for imports
    return max(0.0, anneal(long) - anneal(short)) / (2 * (long - short))
