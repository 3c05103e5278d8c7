"""The travelling salesman of the released code of EDLP: the corners of a cube (settings E.2)."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.checks import positive_number
from targets.synthetic.tabulated import look_up
from targets.tours.tour_density import TourDensity

CORNERS = ("100", "010", "001", "110", "011", "101", "111", "000")
"""Coordinates of the cities A to H."""

WEIGHTS = (
    (0.0, 2.0, 1.5, 1.2, 2.1, 2.3, 2.2, 2.4),
    (1.0, 0.0, 2.5, 2.0, 2.6, 2.5, 2.8, 2.9),
    (1.8, 2.2, 0.0, 1.6, 1.4, 1.6, 1.5, 1.7),
    (1.7, 1.3, 1.9, 0.0, 2.4, 2.3, 2.2, 2.6),
    (1.9, 2.1, 1.8, 1.5, 0.0, 2.5, 2.8, 2.6),
    (1.5, 1.9, 1.7, 1.7, 1.4, 0.0, 2.2, 2.3),
    (1.6, 1.7, 1.6, 1.8, 1.5, 1.4, 0.0, 2.5),
    (1.8, 1.5, 1.9, 2.0, 1.6, 1.5, 1.7, 0.0),
)
"""How many times its Euclidean length the way from the city of the row to that of the column is."""


class ReleasedTSP(TourDensity):
    """U = -scale * length of a tour of the 8 corners of the unit cube, by the weights of the released code.

    A city's code is its corner, so that a state is the list of the corners in the order of the tour. The
    gradient is that of -scale * sum_i w_i |x_i - x_(i+1)| in the corners x_i, with the weights w_i of the
    tour held fixed, as in the released code; two equal corners in a row add nothing to it.

    Spaces: tours.
    Source: the released code of EDLP (`EDLP/tsp.py`).

    Args:
        scale: of U; the code has 1.

    Attributes:
        pulls: ``(codes, codes, 3)``, the gradient of the length of a way in the corner that it starts from.

    Raises:
        ValueError: naming the argument.
    """

    pulls: Tensor

    def __init__(self, scale: float = 1.0) -> None:
        corners = torch.tensor([[int(bit) for bit in corner] for corner in CORNERS], dtype=torch.float64)
        order = torch.tensor([int(corner, 2) for corner in CORNERS]).argsort()
        weights = torch.tensor(WEIGHTS, dtype=torch.float64)[order][:, order]
        ways = (corners.unsqueeze(1) - corners)[order][:, order]
        lengths = ways.norm(dim=-1)
        super().__init__(weights * lengths, positive_number("scale", scale))
        pulls = weights.unsqueeze(-1) * ways / lengths.unsqueeze(-1)
        self.register_buffer("pulls", pulls.nan_to_num(0.0))

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        tour = self.tour(theta)
        from_here = look_up(self.pulls.flatten(0, 1), tour * self.cities + tour.roll(-1, -1))
        grad = (from_here - from_here.roll(1, -2)).flatten(-2)
        return self._log_prob(tour), grad.mul_(-self.scale)
