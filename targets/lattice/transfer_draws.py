"""Exact draws from narrow periodic strips, row after row, by the transfer matrices of the rows to come."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.lattice.transfer_matrix import require_in_range, row_states, row_terms
from targets.randomness import Generator, draw_index, uniform

MOST_ROWS = 256
"""Most states of a row from which rows are drawn: every draw weighs all of them in every row."""


class StripDraws:
    """Independent draws from exp(U) of a strip, U as in `targets.lattice.transfer_matrix`.

    With x_r the states of the rows and T_r = exp(terms between rows r and r + 1), the first row has weights
    (T_0 T_1 ... )[x_0, x_0], and each next one T_r[x_r, x_(r + 1)] (T_(r + 1) ...)[x_(r + 1), x_0].

    Args:
        couplings: ``(2, length, width)``, as of `transfer_log_partition`.
        field: ``(length, width, levels)``.

    Raises:
        ValueError: if the couplings are too strong for float64.
    """

    def __init__(self, couplings: Tensor, field: Tensor) -> None:
        self.rows = row_states(couplings, field)
        terms = list(row_terms(couplings, field))
        self.steps = [(each - each.amax()).exp() for each in terms]
        rest = torch.eye(len(self.rows), dtype=torch.float64, device=field.device)
        self.rest = [rest]
        for step in reversed(self.steps):
            rest = step @ rest
            rest = rest / rest.amax()
            self.rest.append(rest.T.contiguous())
        self.rest.reverse()
        require_in_range("an exact draw", self.rest[0].trace())

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Levels of the sites, ``(*shape, length, width)``, int64."""
        like = self.rest[0]
        numbers = uniform(generator, shape, (len(self.steps),), like=like)
        first = place = draw_index(like.diagonal(), numbers[..., 0])
        drawn = [place]
        for row, step in enumerate(self.steps[:-1], 1):
            place = draw_index(step[place] * self.rest[row][first], numbers[..., row])
            drawn.append(place)
        return self.rows[torch.stack(drawn, -1)]
