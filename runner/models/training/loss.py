"""The training loss: the contrastive loss, and penalties on the gradient and the size of U."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from metrics.likelihood.target_log_partition import evenly
from runner.models.training_settings import TrainingSettings
from targets.target import Target

COMPARED = 1000
"""Number of images of each part in the free-energy gap."""

MANY = 2 * COMPARED
"""From so many images on, those of a part are evenly spaced; of fewer, the first: recorded gaps stay."""


class Loss(NamedTuple):
    """The loss of one iteration, differentiable in the parameters.

    Attributes:
        difference: the contrastive loss.
        total: the contrastive loss plus the penalties, which is minimised.
        log_prob: U of the samples and then of the data, ``(n + m)``.
    """

    difference: Tensor
    total: Tensor
    log_prob: Tensor


def learning_loss(target: Target, samples: Tensor, data: Tensor, settings: TrainingSettings) -> Loss:
    """The loss, from one evaluation of samples and data; penalties with weight 0 are not computed.

    Args:
        samples: ``(n, *event_shape)``, treated as constants.
        data: ``(m, *event_shape)``.
        settings: gradient_penalty, energy_penalty.
    """
    states = torch.cat([samples, data]).requires_grad_(settings.gradient_penalty > 0)
    log_prob = target.log_prob(states)
    of_samples, of_data = log_prob[: len(samples)], log_prob[len(samples) :]
    total = difference = contrastive_loss(of_samples, of_data)
    if settings.gradient_penalty > 0:
        total = total + settings.gradient_penalty * gradient_penalty(of_data, states)
    if settings.energy_penalty > 0:
        total = total + settings.energy_penalty * energy_penalty(of_samples, of_data)
    return Loss(difference, total, log_prob)


def contrastive_loss(samples: Tensor, data: Tensor) -> Tensor:
    """mean U(samples) - mean U(data).

    With exact samples its gradient with respect to the parameters is that of the mean negative
    log-likelihood.

    Args:
        samples, data: U of each, ``(n)`` and ``(m)``.
    """
    return samples.mean() - data.mean()


def gradient_penalty(log_prob: Tensor, states: Tensor) -> Tensor:
    """Mean of |grad_x U(x)|^2 over the states; its gradient needs a second backward pass.

    The released code (`pcd_ebm_ema.py`, `p_control`) has half of this value.

    Args:
        log_prob: U of the states, ``(n)``, differentiable in them.
        states: ``(n, *event_shape)``, or more rows, of which the last n are used.
    """
    (slope,) = torch.autograd.grad(log_prob.sum(), states, create_graph=True)
    return slope[-len(log_prob) :].square().flatten(1).sum(-1).mean()


def energy_penalty(samples: Tensor, data: Tensor) -> Tensor:
    """mean U(data)^2 + mean U(samples)^2 (`pcd_ebm_ema.py`, `l2`).

    Args:
        samples, data: U of each, ``(n)`` and ``(m)``.
    """
    return data.square().mean() + samples.square().mean()


@torch.no_grad()
def free_energy_gap(target: Target, train: Tensor, validation: Tensor) -> float:
    """mean U(train) - mean U(validation) over 1,000 images of each, or all.

    Evenly spaced ones where there are 2,000 or more, since a set may be sorted by class; else the first.
    It increases with overfitting (Hinton 2010, section 6).
    """
    dtype = target.like().dtype
    parts = (evenly(part, COMPARED) if len(part) >= MANY else part[:COMPARED] for part in (train, validation))
    seen, unseen = (target.log_prob(part.to(dtype)).mean() for part in parts)
    return float(seen - unseen)
