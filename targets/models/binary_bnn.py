"""Two-layer Bayesian neural networks with weights -1 or 1 (EDLP, section 6.4; Zhang, Liu and Liu 2022)."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number
from targets.compiling.tracing import is_traced
from targets.models.network_passes import Networks, error_sums, log_odds
from targets.models.traced_networks import traced_log_odds, traced_sums
from targets.spaces import Binary
from targets.tabular.distinct_rows import DistinctRows
from targets.tabular.tabular_data import TabularData
from targets.target import Target


class BinaryBNN(Target):
    """U(theta) = -scale * mean over training rows of (f(x) - y)^2, for every network of the batch at once.

    f(x) = sigmoid(v' tanh(W x + b) + a), with all of W, b, v and a equal to 2 theta - 1 (settings E.4, the
    released code's energy; the paper has a sum and no sigmoid). There is no prior. U is defined for any
    real theta. A state holds W feature by feature, then b, v and a.

    Spaces: binary.
    Source: EDLP, section 6.4.

    Args:
        tabular: the data set.
        n_hidden: number of hidden units.
        scale: factor of the mean squared error.

    Attributes:
        note: remark on the data set that must accompany its results, or None.

    Raises:
        ValueError: if `n_hidden` is not a positive integer or `scale` not a positive number.
    """

    batch_invariant = False
    by_seed = ("log_prob", "log_prob_and_grad")
    space: Binary

    def __init__(self, tabular: TabularData, n_hidden: int = 100, scale: float = 100.0) -> None:
        super().__init__()
        self.n_features, self.n_hidden = tabular.features, whole_number("n_hidden", n_hidden)
        self.scale = positive_number("scale", scale)
        self._memory: dict[tuple[torch.device, torch.dtype], Tensor] = {}
        self.note = tabular.note
        self.space = Binary(n_hidden * (tabular.features + 2) + 1)
        for name, part in tabular.parts.items():
            self.add_module(f"{name}_rows", DistinctRows(part.inputs, part.outcome))

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""
        found = self.get_submodule(f"{part}_rows")
        assert isinstance(found, DistinctRows)
        return found

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Log odds v' tanh(W x + b) + a of the distinct rows of a part, with padding, ``(*batch, rows)``."""
        flat, inputs = theta.reshape(-1, self.space.d), self.rows(part).inputs
        networks, differentiated = self._networks(flat), torch.is_grad_enabled() and theta.requires_grad
        if is_traced() and not differentiated:
            found = traced_log_odds(networks, inputs)
        else:  # Only autograd needs the hidden activations of every chunk.
            found = log_odds(networks, inputs, None if differentiated else self._work(flat))
        return found.reshape(*theta.shape[:-1], inputs.shape[1])

    def log_prob(self, theta: Tensor) -> Tensor:
        rows = self.rows("train")
        error = self.logits(theta, "train").sigmoid() - rows.outcome
        return -self.scale * (error.square() @ rows.share + rows.spread)

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient, from one pass over the rows."""
        flat, rows = theta.reshape(-1, self.space.d), self.rows("train")
        networks, given = self._networks(flat), (rows.inputs, rows.outcome, rows.share)
        if is_traced():
            sums = traced_sums(networks, *given)
        else:
            sums = error_sums(networks, *given, self._work(flat))
        # dU / dtheta is -scale * 2 * 2 times the sums; tanh is 2 s - 1, and v a factor of (W, b)'s.
        to_weights = sums.to_weights * networks.output.unsqueeze(1).mul(-16.0 * self.scale)
        to_output = sums.to_output.mul(2.0).sub(sums.to_bias.unsqueeze(-1)).mul(-4.0 * self.scale)
        to_bias = sums.to_bias.mul(-4.0 * self.scale).unsqueeze(-1)
        grad = torch.cat([to_weights.flatten(1), to_output, to_bias], -1)
        log_prob = (sums.error + rows.spread).mul(-self.scale)
        return log_prob.reshape(theta.shape[:-1]), grad.reshape(theta.shape)

    def _work(self, like: Tensor) -> Tensor:
        """Reusable memory for a chunk: memory that is freed after each step would be zeroed for the next."""
        place = (like.device, like.dtype)
        if place not in self._memory:
            self._memory[place] = like.new_empty(0)
        return self._memory[place]

    def _networks(self, flat: Tensor) -> Networks:
        """The parameters that the states ``(networks, d)`` are."""
        first = self.n_hidden * (self.n_features + 1)
        weights = flat * 2.0 - 1.0
        doubled = weights[:, :first].reshape(-1, self.n_features + 1, self.n_hidden).mT * 2.0
        return Networks(doubled, weights[:, first:-1], weights[:, -1])
