"""A small Bayesian logistic regression whose log likelihood can be estimated from minibatches."""

from __future__ import annotations

import math
from numbers import Integral

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from targets.checks import positive_number, whole_number
from targets.randomness import Generator, derive_seed, normal, uniform
from targets.spaces import Binary
from targets.synthetic.tabulated import Tabulated, look_up


class MinibatchLogistic(Tabulated):
    """Logistic regression with weights in {-1, 1}^d under a uniform prior, from generated data.

    With signed covariates z_j (covariates times the label in {-1, 1}) and weights w = 2 theta - 1, theta in
    {0, 1}^d, U(theta) = sum_j log sigmoid(z_j . w). The covariates are normal with variance ``scale**2 /
    d``, so that `scale` is the standard deviation of the logits; the labels are drawn from the model with
    all weights 1. It is a test case for the noise-corrected swap of PT-DLP v2, Eq. 7, with known exact
    probabilities; by default U has a range of 9 nats and an estimate a standard deviation of 1.3 to 1.7.

    Spaces: binary.

    Args:
        d: number of weights; all ``2**d`` states are tabulated, for every datum.
        data: number n of data points.
        minibatch: number m of data points per estimate, drawn without replacement.
        scale: standard deviation of the logits.
        data_seed: seed of the generated data.

    Raises:
        ValueError: if `data` is not a positive whole number, `minibatch` not one from 1 to `data`, or `scale`
            not a positive number.
    """

    _terms: Tensor
    _noise_variance: Tensor

    def __init__(
        self, d: int = 6, data: int = 100, minibatch: int = 50, scale: float = 0.3, data_seed: int = 0
    ) -> None:
        space, data = Binary(d), whole_number("data", data)
        positive_number("scale", scale)
        minibatch = _minibatch_of(minibatch, data)
        signed = signed_covariates(d, data, scale, data_seed)
        logits = (2 * space.states() - 1) @ signed.T
        terms = logsigmoid(logits)
        grad = 2 * torch.sigmoid(-logits) @ signed
        super().__init__(space, terms.sum(-1), grad)
        self.data = data
        self.minibatch = minibatch
        # Without replacement: n^2 / m (1 - m / n) S^2, where S^2 has the divisor n - 1.
        spread = terms.var(-1) if data > 1 else torch.zeros(space.size, dtype=torch.float64)
        self.register_buffer("_terms", terms)
        self.register_buffer("_noise_variance", spread * data * (data - minibatch) / minibatch)

    def noisy_log_prob(self, theta: Tensor, generator: Generator) -> Tensor:
        """n / m times the sum over a fresh minibatch for every chain, shape ``(*batch)``; unbiased for U."""
        place = self.space.index(theta)
        # Float64 keys practically never tie, so that every minibatch is equally likely.
        keys = uniform(generator, place.shape, (self.data,), like=self.probabilities())
        chosen = keys.topk(self.minibatch, dim=-1, sorted=False).indices
        estimate: Tensor = self._terms[place.unsqueeze(-1), chosen].sum(-1) * (self.data / self.minibatch)
        return estimate

    def noise_variance(self, theta: Tensor) -> Tensor:
        """Variance of `noisy_log_prob` at theta in closed form, shape ``(*batch)``."""
        return look_up(self._noise_variance, self.space.index(theta))


def _minibatch_of(given: object, data: int) -> int:
    """`given` as an int; ValueError unless it is a whole number from 1 to `data`."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not 1 <= int(given) <= data:
        raise ValueError(f"minibatch must be a whole number from 1 to data={data}, {given!r} was given")
    return int(given)


def signed_covariates(d: int, data: int, scale: float, data_seed: int) -> Tensor:
    """Covariates times labels ``(data, d)``, float64, drawn from the model with all weights 1."""
    generator = torch.Generator().manual_seed(derive_seed(data_seed, "data"))
    like = torch.empty(0, dtype=torch.float64)
    covariates = normal(generator, (data,), (d,), like=like) * (scale / math.sqrt(d))
    positive = uniform(generator, (data,), like=like) < covariates.sum(-1).sigmoid()
    labels = torch.where(positive, 1.0, -1.0).to(covariates)
    return covariates * labels.unsqueeze(-1)
