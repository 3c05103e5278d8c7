"""The likelihood that a model gives to data, by annealed importance sampling from both ends."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import torch
from omegaconf import DictConfig

from runner.execution.devices import device_type, floating_point
from runner.tasks.likelihood.ais_settings import AISSettings
from runner.tasks.likelihood.rbm_likelihood import rbm_likelihood
from runner.tasks.likelihood.target_likelihood import check_annealing, target_likelihood
from targets.datasets.dataset import Dataset
from targets.models.rbm import RBM
from targets.target import Target


def likelihood(
    target: Target, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> dict[str, float]:
    """log Z, its errors, and the mean log-likelihood of the test and training images, in nats an image.

    ``log_likelihood`` uses forward AIS, whose log Z is too low on average and whose likelihood is
    therefore too high; ``log_likelihood_reverse`` uses reverse AIS and errs the other way. They bracket the
    true value as far as the draws that reverse AIS starts from are draws of the model.

    An RBM has its own annealing (`runner.tasks.likelihood.rbm_likelihood`); any other model is annealed
    with the kernel of the settings (`runner.tasks.likelihood.target_likelihood`).

    Raises:
        UserError: if the kernel cannot serve the model.
        Interrupted: if the process is told to stop; what was reached is in `checkpoint`.
    """
    device = torch.device(device_type(config.device))
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
