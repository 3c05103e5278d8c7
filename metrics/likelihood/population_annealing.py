"""Population annealing: annealed importance sampling with copies of members in proportion to weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.systematic_resampling import systematic
from metrics.likelihood.target_annealing import TargetAnnealing
from metrics.metric import restore
from samplers import Kernel, State
from samplers.choice import of_chains
from targets.randomness import Generator
from targets.target import Target


class PopulationAnnealing(TargetAnnealing):
    """A population of chains that walks along the path of `TargetAnnealing`, resampled on the way.

    After a change of temperature members are copied by systematic resampling, and all log weights become 0;
    the mean of the weights is a factor of the estimate of Z, which is unbiased. Then the kernel moves all
    members (Hukushima and Iba 2003; Machta 2010). log Z is minus the free energy over the temperature.

    Args:
        target, kernel, betas, theta, generator: as of `TargetAnnealing`, the schedule from 0 to 1; the last
            axis of the batch is the population, each other entry a population of its own.
        threshold: a population is resampled where its effective sample size is at most this share of it; at 1
            always. 0 is annealed importance sampling.

    Attributes:
        family: the founder of each member, its place at the start, ``(*seeds, chains)``, int64.

    Raises:
        ValueError: as `TargetAnnealing`.
    """

    def __init__(
        self,
        target: Target,
        kernel: Kernel,
        betas: Tensor,
        theta: Tensor,
        generator: Generator,
        threshold: float = 1.0,
    ) -> None:
        super().__init__(target, kernel, betas, theta, generator)
        self.threshold = threshold
        self._before = self.log_weights.new_zeros(self.log_weights.shape[:-1])
        chains = torch.arange(self.log_weights.shape[-1], device=theta.device)
        self.family = chains.expand(self.log_weights.shape).clone()

    def log_partition(self) -> Tensor:
        """log of the estimate of Z at the inverse temperature reached, of each population, ``(*seeds)``."""
        return self._before + self.log_weights.logsumexp(-1) - math.log(self.log_weights.shape[-1])

    def family_sizes(self) -> Tensor:
        """Share of the population, by weight, that descends from each founder, ``(*seeds, chains)``."""
        shares = torch.zeros_like(self.log_weights)
        return shares.scatter_add(-1, self.family, self.log_weights.softmax(-1))

    def _resampled(self, state: State) -> State:
        shares = self.log_weights.softmax(-1)
        n = shares.shape[-1]
        fewer = 1.0 / (n * shares.square().sum(-1, keepdim=True)) <= self.threshold * (1.0 + 1e-12)
        chosen = systematic(self.log_weights, self.generator)
        source = torch.where(fewer, chosen, torch.arange(n, device=chosen.device))
        estimate = self.log_weights.logsumexp(-1) - math.log(n)
        self._before += torch.where(fewer.squeeze(-1), estimate, 0.0)
        self.log_weights = torch.where(fewer, 0.0, self.log_weights)
        self.family = self.family.gather(-1, source)
        return _copied(state, source)

    def _saved(self) -> dict[str, Any]:
        return {**super()._saved(), "before": self._before.clone(), "family": self.family.clone()}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        restore("before", self._before, state["before"])
        restore("family", self.family, state["family"])


def mean_square_family(sizes: Tensor) -> Tensor:
    """rho_t = n times the sum of squared shares ``(*seeds)``: 1 if every family survives, n if only one does.

    The variance of means over the population is at most rho_t / n (Wang, Machta and Katzgraber 2015).
    """
    return sizes.square().sum(-1) * sizes.shape[-1]


def _copied(state: State, source: Tensor) -> State:
    """The state whose chain at each place is the one of `state` at `source`."""

    def taken(values: Tensor) -> Tensor:
        index = source.reshape(source.shape + (1,) * (values.dim() - source.dim()))
        return torch.take_along_dim(values, index, source.dim() - 1)

    aux = {
        name: taken(value) if of_chains(value, source.shape) else value for name, value in state.aux.items()
    }
    grad = None if state.grad is None else taken(state.grad)
    return replace(state, theta=taken(state.theta), log_prob=taken(state.log_prob), grad=grad, aux=aux)
