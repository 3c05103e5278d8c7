"""Two-layer Bayesian neural networks with weights -1 or 1 (EDLP, section 6.4; Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number
from targets.compiling.tracing import is_traced
from targets.models.network_passes import error_and_grad, log_odds
from targets.models.traced_networks import traced_error_and_grad, traced_log_odds
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

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_memory": {}}

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""
        found = self.get_submodule(f"{part}_rows")
        assert isinstance(found, DistinctRows)
        return found

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Log odds v' tanh(W x + b) + a of the distinct rows of a part, with padding, ``(*batch, rows)``."""
        flat, inputs = theta.reshape(-1, self.space.d), self.rows(part).inputs
        differentiated = torch.is_grad_enabled() and theta.requires_grad
        if is_traced() and not differentiated:
            found = traced_log_odds(flat, self.n_hidden, inputs)
        else:  # Only autograd needs the hidden activations of every chunk.
            found = log_odds(flat, self.n_hidden, inputs, None if differentiated else self._work(flat))
        return found.reshape(*theta.shape[:-1], inputs.shape[1])

    def log_prob(self, theta: Tensor) -> Tensor:
        rows = self.rows("train")
        error = self.logits(theta, "train").sigmoid() - rows.outcome
        return -self.scale * (error.square() @ rows.share + rows.spread)

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient, from one pass over the rows."""
        flat, rows = theta.reshape(-1, self.space.d), self.rows("train")
        given = flat, self.n_hidden, (rows.inputs, rows.outcome, rows.share), self.scale
        error, grad = (
            traced_error_and_grad(*given) if is_traced() else error_and_grad(*given, self._work(flat))
        )
        log_prob = (error + rows.spread).mul(-self.scale)
        return log_prob.reshape(theta.shape[:-1]), grad.reshape(theta.shape)

    def _work(self, like: Tensor) -> Tensor:
        """Reusable memory for a chunk: memory that is freed after each step would be zeroed for the next."""
        place = (like.device, like.dtype)
        if place not in self._memory:
            self._memory[place] = like.new_empty(0)
        return self._memory[place]
