"""The factorial hidden Markov model: several binary chains behind one observed series."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number
from targets.enumeration import enumerated_probabilities
from targets.randomness import Generator, derive_seed, normal, uniform
from targets.sequences.hidden_chains import HiddenChains, joint_states
from targets.spaces import Binary
from targets.target import Target


class FactorialHMM(Target):
    """The posterior of K binary Markov chains x_tk given T observations y_t; U is log p(x, y).

    Each chain starts at 0 or 1 with equal probability and stays where it is with the probability `stay`;
    y_t is normal with mean sum_k w_k x_tk and standard deviation `noise`. Weights w are standard normal; they
    and the observations are drawn once. A state is ``(*batch, T K)``, its bits ordered by time and then by
    chain. The gradient is that of the quadratic function of real x.

    Spaces: binary.
    Source: Ghahramani and Jordan (1997), section 2; DISCS (Goshvadi et al. 2023), Eq. 11.

    Args:
        length: T.
        chains: K.
        stay: probability of staying, strictly between 0 and 1.
        noise: standard deviation of the observations.
        instance_seed: of weights, hidden chains and observations.

    Attributes:
        weights: w, ``(K,)``.
        observations: y, ``(T,)``.

    Raises:
        ValueError: if an argument is out of its range.
    """

    space: Binary
    weights: Tensor
    observations: Tensor

    def __init__(
        self,
        length: int = 100,
        chains: int = 5,
        stay: float = 0.9,
        noise: float = 0.5,
        instance_seed: int = 0,
    ) -> None:
        super().__init__()
        whole_number("length", length)
        whole_number("chains", chains)
        whole_number("instance_seed", instance_seed, 0)
        allowed = "a probability strictly between 0 and 1"
        if positive_number("stay", stay, allowed) >= 1.0:
            raise ValueError(f"stay must be {allowed}, {stay!r} was given")
        self.length, self.chains, self.noise = length, chains, positive_number("noise", noise)
        self.space = Binary(length * chains)
        self.log_stay, self.log_leave = math.log(stay), math.log1p(-stay)
        like = torch.empty(0, dtype=torch.float64)
        generator = torch.Generator().manual_seed(derive_seed(instance_seed, "hidden chains"))
        weights = normal(generator, (chains,), like=like)
        moves = uniform(generator, (length, chains), like=like) >= stay
        moves[0] = uniform(generator, (chains,), like=like) < 0.5
        hidden = moves.long().cumsum(0).remainder(2).double()
        observations = hidden @ weights + normal(generator, (length,), like=like, std=noise)
        self.register_buffer("weights", weights)
        self.register_buffer("observations", observations)

    def log_prob(self, theta: Tensor) -> Tensor:
        hidden = theta.reshape(*theta.shape[:-1], self.length, self.chains)
        return self._log_prob(hidden, self._residuals(hidden))

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient, from one pass over the series."""
        hidden = theta.reshape(*theta.shape[:-1], self.length, self.chains)
        residuals = self._residuals(hidden)
        grad = (residuals / self.noise**2).unsqueeze(-1) * self.weights
        # d/dx of (log stay - log leave) times the number of times that the chain stays.
        push = (self.log_stay - self.log_leave) * (2.0 * hidden - 1.0)
        grad[..., 1:, :] += push[..., :-1, :]
        grad[..., :-1, :] += push[..., 1:, :]
        return self._log_prob(hidden, residuals), grad.flatten(-2)

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its exact changes by a flip of each bit, ``(*batch, T K)``."""
        log_prob, grad = self.log_prob_and_grad(theta)
        second = 0.5 * (self.weights / self.noise).square().repeat(self.length)
        return log_prob, (1.0 - 2.0 * theta) * grad - second

    def _residuals(self, hidden: Tensor) -> Tensor:
        """y_t - sum_k w_k x_tk, ``(*batch, T)``; a sum and no matrix product, to be batch invariant."""
        return self.observations - (hidden * self.weights).sum(-1)

    def _log_prob(self, hidden: Tensor, residuals: Tensor) -> Tensor:
        before, after = hidden[..., :-1, :], hidden[..., 1:, :]
        stays = (1.0 - before - after + 2.0 * before * after).flatten(-2).sum(-1)
        fit = -0.5 * (residuals / self.noise).square().sum(-1)
        return fit + (self.log_stay - self.log_leave) * stays + self._constant()

    def _constant(self) -> float:
        moves = (self.length - 1) * self.chains * self.log_leave
        return (
            moves - self.chains * math.log(2.0) - self.length * math.log(self.noise * math.sqrt(2 * math.pi))
        )

    def hidden_chains(self, beta: Tensor | float = 1.0) -> HiddenChains:
        """The exact posterior at an inverse temperature, by forward-backward over all 2^K joint states.

        Raises:
            ValueError: if there are too many.
        """
        means = joint_states(self.chains).to(self.weights.device) @ self.weights.double()
        misfit = (self.observations.double().unsqueeze(-1) - means) / self.noise
        fit = -0.5 * misfit.square() - math.log(self.noise * math.sqrt(2 * math.pi))
        beta = torch.as_tensor(beta, dtype=torch.float64, device=fit.device)
        return HiddenChains(fit, (self.log_stay, self.log_leave), beta)

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64; log p(y) at beta = 1.

        Raises:
            ValueError: if there are too many chains.
        """
        return self.hidden_chains(beta).log_partition()

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws from the posterior, ``(*shape, T K)``, by forward filtering, backward sampling.

        Raises:
            ValueError: if there are too many chains.
        """
        return self.hidden_chains().sample(shape, generator).to(self.weights.dtype)

    def probabilities(self) -> Tensor:
        """Exact probabilities of all states, ``(size,)``, float64, for small models.

        Raises:
            ValueError: if there are too many states to list.
        """
        return enumerated_probabilities(self)
