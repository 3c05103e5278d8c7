"""The distribution on {0, 1}^4 of EDLP (section 6.1 and Figures 2, 10, 11)."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.spaces import Binary
from targets.synthetic.tabulated import Tabulated

PROBABILITIES = (
    *(0.07688966, 0.04725621, 0.125, 0.01667631),  # 0000 0001 0010 0011
    *(0.08688745, 0.07688966, 0.07688966, 0.16756987),  # 0100 0101 0110 0111
    *(0.04725621, 0.05825, 0.01667631, 0.04725621),  # 1000 1001 1010 1011
    *(0.07688966, 0.04725621, 0.019004, 0.01335262),  # 1100 1101 1110 1111
)
"""As in the released code, summing to 1.00000004 (settings E.1); the paper prints five digits."""

FLAT = ((0, 1, 0, 0), (1, 0, 0, 1))
SHARP = ((0, 0, 1, 0), (0, 1, 1, 1))
"""The flat and the sharp modes of section 6.1."""


class Bernoulli4(Tabulated):
    """The 4-dimensional Bernoulli target of EDLP: U is the multilinear extension of ln p.

    At a corner of the cube the derivative of the multilinear extension along coordinate i is
    ln p(theta with theta_i = 1) - ln p(theta with theta_i = 0). The released probabilities are renormalised.

    Spaces: binary.
    Source: EDLP, section 6.1.

    Attributes:
        flat_states: 0100 and 1001, ``(2, 4)``.
        sharp_states: 0010 and 0111, ``(2, 4)``.
    """

    flat_states: Tensor
    sharp_states: Tensor

    def __init__(self) -> None:
        space = Binary(4)
        probabilities = torch.tensor(PROBABILITIES, dtype=torch.float64)
        log_prob = (probabilities / probabilities.sum()).log()
        super().__init__(space, log_prob, multilinear_gradient(space, log_prob))
        self.register_buffer("flat_states", torch.tensor(FLAT, dtype=torch.float64))
        self.register_buffer("sharp_states", torch.tensor(SHARP, dtype=torch.float64))

    def hessians(self) -> Tensor:
        """Hessians of U at ``space.states()``, shape ``(16, 4, 4)``, float64: mixed differences of ln p."""
        return multilinear_hessian(Binary(4), self.probabilities().log())


def multilinear_gradient(space: Binary, log_prob: Tensor) -> Tensor:
    """Gradient at the corners ``(2**d, d)`` of the multilinear extension of a table ``(2**d,)``."""
    columns = []
    for coordinate in range(space.d):
        off, on = space.states(), space.states()
        off[:, coordinate], on[:, coordinate] = 0, 1
        columns.append(log_prob[space.index(on)] - log_prob[space.index(off)])
    return torch.stack(columns, dim=-1)


def multilinear_hessian(space: Binary, log_prob: Tensor) -> Tensor:
    """Hessian at the corners ``(2**d, d, d)`` of the multilinear extension of a table ``(2**d,)``.

    A derivative of a multilinear function is multilinear and does not depend on its own coordinate: the
    entries are mixed differences, and the diagonal is exactly zero.
    """
    gradient = multilinear_gradient(space, log_prob)
    return torch.stack([multilinear_gradient(space, column) for column in gradient.unbind(-1)], dim=-1)
