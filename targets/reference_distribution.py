"""The start of annealing: a normalised distribution with independent coordinates on a target's space."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from targets.randomness import Generator, uniform
from targets.spaces import Binary, Discrete, discrete_space
from targets.target import Target


class ReferenceDistribution:
    """Independent Bernoulli bits with given means, or the uniform distribution; log Z_0 = 0.

    Args:
        space: space of the target.
        mean: means of the bits ``(d,)``, strictly between 0 and 1; None for the uniform distribution.
    """

    def __init__(self, space: Discrete, mean: Tensor | None = None) -> None:
        self.space, self.mean = space, mean
        self._ones = None if mean is None else mean.double().log()
        self._zeros = None if mean is None else (-mean.double()).log1p()

    def log_prob(self, theta: Tensor) -> Tensor:
        """log p0(theta) ``(*batch)``, float64; does not depend on the batch composition."""
        if self._ones is None or self._zeros is None:
            batch = self.space.batch_shape(theta)
            uniform_value = -self.space.d * math.log(self.space.levels)
            return torch.full(batch, uniform_value, dtype=torch.float64, device=theta.device)
        return torch.where(theta > 0, self._ones, self._zeros).sum(-1)

    def grad(self, like: Tensor) -> Tensor:
        """The gradient of log p0, constant in theta: it broadcasts to states and has the dtype of `like`.

        For bits log p0 is linear, and its gradient the log odds of the means; zero if p0 is uniform.
        """
        if self.mean is None:
            return like.new_zeros(())
        return self.mean.double().logit().to(like)

    def draws(self, shape: Sequence[int], generator: Generator, *, like: Tensor) -> Tensor:
        """Independent draws ``(*shape, *event_shape)`` with the dtype and device of `like`."""
        if self.mean is None:
            return self.space.initial(shape, generator, like=like)
        draws = uniform(generator, shape, self.space.event_shape, like=like)
        return (draws < self.mean).to(draws.dtype)


def reference_distribution(target: Target) -> ReferenceDistribution:
    """The reference distribution of `target`: bits with the means `data_mean` if it has them, else uniform.

    Raises:
        ValueError: unless the target's space is discrete, and `data_mean` one number between 0 and 1 for
            each bit.
    """
    space = discrete_space("annealing", target.space)
    mean = getattr(target, "data_mean", None)
    if not isinstance(space, Binary) or not isinstance(mean, Tensor):
        return ReferenceDistribution(space)
    mean = mean.detach()
    named = f"annealing starts from the data_mean of {type(target).__name__}, which must"
    if mean.shape != (space.d,):
        raise ValueError(f"{named} have the shape ({space.d},), {tuple(mean.shape)} was given")
    outside = mean[~((mean > 0.0) & (mean < 1.0))]  # a NaN, too
    if len(outside):
        # A bit that never takes one of its values leaves out states of the target.
        raise ValueError(f"{named} lie between 0 and 1 at each bit, {float(outside[0]):g} was given")
    return ReferenceDistribution(space, mean)
