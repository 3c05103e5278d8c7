"""The likelihood that a model gives to data: AIS from both ends; for what is no RBM with any exact kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import torch
from omegaconf import DictConfig

from metrics.inference.few_seeds import interval
from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.target_annealing import TargetAnnealing, check_transition
from metrics.likelihood.target_log_partition import (
    MAX_STATES,
    evenly,
    exact_log_partition,
    mean_log_prob,
    reference_log_likelihood,
)
from runner.execution.devices import floating_point, present_device
from runner.execution.errors import UserError, one_sentence
from runner.files.resumable import run_to_end, save_plan
from runner.tasks.likelihood.ais_settings import AISSettings
from runner.tasks.likelihood.annealings import Annealings, Likelihood, Walk, both_ends
from runner.tasks.likelihood.rbm_likelihood import rbm_likelihood
from targets import RBM, Dataset, Discrete, Streams, Target
from targets.randomness import derive_seed
from targets.reference_distribution import reference_distribution

BLOCK = 10
"""Temperatures between two looks at progress, signals and the checkpoint: seconds of a network."""

TRAINING_IMAGES = 10_000
"""Training images, evenly spaced, whose likelihood is measured: as many as test sets have."""


def likelihood(
    target: Target, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> Likelihood:
    """log Z, its errors, and the mean log-likelihood of the test and training images, in nats an image.

    ``log_likelihood`` uses forward AIS, whose log Z is too low on average and whose likelihood is
    therefore too high; ``log_likelihood_reverse`` uses reverse AIS and errs the other way. They bracket the
    true value as far as the draws that reverse AIS starts from are draws of the model.

    An RBM has its own annealing (`runner.tasks.likelihood.rbm_likelihood`); any other model is annealed
    with the kernel of the settings (`target_likelihood`).

    Raises:
        UserError: if the kernel cannot serve the model.
        Interrupted: if the process is told to stop; what was reached is in `checkpoint`.
    """
    device = torch.device(present_device(config.device))
    there = target.to(device=device, dtype=floating_point(config.dtype)).requires_grad_(False)
    if there.block_gibbs:
        return rbm_likelihood(cast(RBM, there), data, settings, seed, config, checkpoint)
    return target_likelihood(there, data, settings, seed, config, checkpoint)


def check_likelihood(target: Target, settings: AISSettings) -> None:
    """Refuses settings that cannot serve `target`; costs nothing.

    Raises:
        UserError: in one sentence.
    """
    if not target.block_gibbs:
        check_annealing(target, settings)


def check_annealing(target: Target, settings: AISSettings) -> None:
    """Refuses a transition that cannot serve `target`; costs nothing.

    Raises:
        UserError: in one sentence.
    """
    try:
        check_transition(target, settings.kernel)
    except ValueError as error:
        raise UserError(f"task.ais.sampler: {one_sentence(error)}.") from error


def target_likelihood(
    target: Target, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> Likelihood:
    """The values that `likelihood` describes, for a target on its device.

    log Z and its errors come from the weights of all repeats together. ``log_z_repeats_low`` and
    ``log_z_repeats_high`` are the 95 % interval by Student's t over the repeats' own estimates, with two
    repeats or more: of the mean of their log Z, which is too low by about half its variance.
    ``log_likelihood_train`` is that of 10,000 training images, evenly spaced, where there are more. With at
    most 2^20 states ``log_z_exact`` and ``log_likelihood_exact`` join them.

    Raises:
        DivergenceError: if a weight is not finite.
    """
    check_annealing(target, settings)
    annealings = run_to_end(
        lambda: _annealings(target, data, settings, seed), save_plan(checkpoint, config.checkpoint)
    )
    weights = {name: walk.log_weights for name, walk in annealings.walks.items()}
    forward = log_mean_weight(weights["forward"], seed)
    reverse = log_mean_weight(weights["reverse"], seed).reversed(0.0)
    test = mean_log_prob(target, data.test)
    train = mean_log_prob(target, evenly(data.train, TRAINING_IMAGES))
    values = both_ends(forward, reverse, test, train, reference_log_likelihood(target, data.test))
    across = interval([log_mean_weight(repeat, seed).value for repeat in weights["forward"]])
    if across is not None and across.lo is not None and across.hi is not None:
        values |= {"log_z_repeats_low": across.lo, "log_z_repeats_high": across.hi}
    if isinstance(target.space, Discrete) and target.space.size <= MAX_STATES:
        values["log_z_exact"] = exact_log_partition(target)
        values["log_likelihood_exact"] = test - values["log_z_exact"]
    values["ais_seconds"] = annealings.seconds
    return Likelihood(values, annealings.evaluations, annealings.earlier_seconds)


def _annealings(target: Target, data: Dataset, settings: AISSettings, seed: int) -> Annealings:
    """The two annealings of a target; repeats are a batch axis with a stream each."""
    seeds = [derive_seed(seed, f"repeat/{repeat}") for repeat in range(settings.repeats)]
    shape, like = (len(seeds), settings.chains), target.like()

    def forward() -> TargetAnnealing:
        streams = Streams(seeds, "ais/forward", like.device)
        start = reference_distribution(target).draws(shape, streams, like=like)
        return TargetAnnealing(target, settings.kernel, settings.betas, start, streams)

    def reverse() -> TargetAnnealing:
        """From training images; at beta = 1 the walk first makes draws of the model of them."""
        streams = Streams(seeds, "ais/reverse", like.device)
        places = streams.uniform(shape, (), torch.float64)
        start = data.train[(places * len(data.train)).long().cpu()].to(like)
        still = torch.ones(settings.draw_steps, dtype=torch.float64)
        betas = torch.cat([still, settings.betas.flip(0)])
        return TargetAnnealing(target, settings.kernel, betas, start, streams)

    begin: dict[str, Callable[[], Walk]] = {"forward": forward, "reverse": reverse}
    return Annealings(begin, 2 * (len(settings.betas) - 1) + settings.draw_steps, BLOCK)
