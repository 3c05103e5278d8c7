"""The restricted Boltzmann machine with its hidden units summed out (PT-DLP v2, section 6.2)."""

from __future__ import annotations

from types import MappingProxyType

import torch
from torch import Tensor, nn

from targets.checks import whole_number
from targets.compiling.onednn import linear
from targets.models.image_model import ImageModel
from targets.randomness import derive_seed
from targets.sum_log import LOG2_E, softplus, sum_log

MEAN_LIMITS = (0.01, 0.99)
"""The data mean is clamped to this interval, so that no pixel starts with an infinite bias."""


class RBM(ImageModel):
    """U(v) = sum_j softplus(c_j + W_j v) + b v on ``{0, 1}^n_visible``; the joint is exp(h'Wv + c'h + b'v).

    Weights start uniform on +-1 / sqrt(n_visible), hidden biases at 0, visible biases at the logit of
    `mean` (settings B.1).

    Spaces: binary.
    Source: PT-DLP v2, section 6.2.

    Args:
        n_visible: number of visible units, the coordinates of a state.
        n_hidden: number of hidden units.
        mean: mean of the training data, ``(n_visible,)``; 1/2 where there is none yet.
        seed: of the weights.

    Attributes:
        weight: W, ``(n_hidden, n_visible)``.
        hidden_bias: c, ``(n_hidden,)``.
        visible_bias: b, ``(n_visible,)``.
        data_mean: `mean`, clamped to [0.01, 0.99]: the reference distribution, from which `initial` draws.
        reference, held_out: two independent reference samples, ``(draws, n_visible)`` each; empty until they
            are set. Not saved with the model.
        reference_chains: number of chains behind `reference`, whose row r is from chain r modulo it; None if
            its rows are independent.
        modes: the start of runs with ``start: one_mode``, ``(1, n_visible)``. Not saved.

    Raises:
        ValueError: if a number of units is not a positive integer or `mean` has the wrong shape.
    """

    block_gibbs = True
    by_seed = (
        *("log_prob", "log_prob_and_grad", "log_prob_of"),
        *("hidden_logits", "visible_logits", "activation"),
    )
    products_of_seeds = MappingProxyType(
        {"hidden_logits": "hidden_logits_of_seeds", "visible_logits": "visible_logits_of_seeds"}
    )
    reference_chains: int | None = None
    reference: Tensor
    held_out: Tensor
    modes: Tensor

    def __init__(self, n_visible: int, n_hidden: int, mean: Tensor | None = None, seed: int = 0) -> None:
        super().__init__(n_visible, mean)
        whole_number("n_hidden", n_hidden)
        self.data_mean = self.data_mean.clamp(*MEAN_LIMITS)
        generator = torch.Generator().manual_seed(derive_seed(seed, "weights"))
        bound = n_visible**-0.5
        weight = torch.rand((n_hidden, n_visible), generator=generator, dtype=torch.float64)
        self.weight = nn.Parameter(bound * (2.0 * weight - 1.0))
        self.hidden_bias = nn.Parameter(torch.zeros(n_hidden, dtype=torch.float64))
        self.visible_bias = nn.Parameter(self.data_mean.logit())
        empty = torch.zeros((0, n_visible), dtype=torch.float64)
        self.register_buffer("reference", empty, persistent=False)
        self.register_buffer("held_out", empty.clone(), persistent=False)
        self.register_buffer("modes", torch.zeros((1, n_visible), dtype=torch.float64), persistent=False)

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return self.weight.shape[0]

    def hidden_logits(self, theta: Tensor) -> Tensor:
        """log odds of each hidden unit given the visible ones, ``(*batch, n_hidden)``."""
        return linear(theta, self.weight, self.hidden_bias)

    def visible_logits(self, hidden: Tensor) -> Tensor:
        """log odds of each visible unit given the hidden ones, ``(*batch, n_visible)``."""
        return linear(hidden, self.weight.T, self.visible_bias)

    def hidden_logits_of_seeds(self, theta: Tensor) -> Tensor:
        """`hidden_logits` ``(seeds, chains, n_hidden)``, a product for each seed."""
        return torch.baddbmm(self.hidden_bias, theta, self.weight.T.expand(len(theta), -1, -1))

    def visible_logits_of_seeds(self, hidden: Tensor) -> Tensor:
        """`visible_logits` ``(seeds, chains, n_visible)``, a product for each seed."""
        return torch.baddbmm(self.visible_bias, hidden, self.weight.expand(len(hidden), -1, -1))

    def activation(self, logits: Tensor) -> Tensor:
        """The probability that each unit is 1, from its log odds, in their place.

        How sigmoid() rounds depends on an element's place in memory.
        """
        return logits.sigmoid_()

    def log_prob(self, theta: Tensor) -> Tensor:
        return softplus(self.hidden_logits(theta)).sum(-1) + self.dot(theta, self.visible_bias)

    @torch.no_grad()
    def log_prob_of(self, theta: Tensor, hidden_logits: Tensor) -> Tensor:
        """U(theta) ``(*batch)`` from known `hidden_logits` of `theta`; not differentiable."""
        # An RBM is not batch invariant anyway, so exp2 may round differently too.
        weights = hidden_logits.abs().mul_(-LOG2_E).exp2_().add_(1.0)
        softplus_sum = hidden_logits.clamp(min=0.0).sum(-1) + sum_log(weights)
        return softplus_sum + self.dot(theta, self.visible_bias)

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient b + W' sigmoid(c + W v): one pass, two matrix products."""
        logits = self.hidden_logits(theta)
        active = logits.sigmoid()
        # softplus(x) = max(x, 0) - log max(sigmoid(x), 1 - sigmoid(x)).
        likelier = (active - 0.5).abs_().add_(0.5)
        log_prob = logits.clamp_(min=0.0).sum(-1) - sum_log(likelier) + self.dot(theta, self.visible_bias)
        return log_prob, self.visible_logits(active)

    def probabilities(self) -> Tensor:
        """Exact probabilities of all states, ``(2 ** n_visible,)``, float64, for small RBMs.

        Raises:
            ValueError: if there are too many states to list.
        """
        states = self.space.states().to(self.weight.device)
        hidden = states @ self.weight.double().T + self.hidden_bias.double()
        return (softplus(hidden).sum(-1) + states @ self.visible_bias.double()).softmax(-1)
