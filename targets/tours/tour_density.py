"""A density over tours: minus the length of a tour times a scale (EDLP, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import one_of
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Categorical
from targets.synthetic.tabulated import look_up
from targets.target import Target
from targets.tours.tour_space import MOST_LISTED, Tours, is_tour

ENCODINGS = ("bits", "one_hot")


class TourDensity(Target):
    """U = -scale * length on tours, minus infinity on other states; a state has the city at each position.

    The gradient is that of the multilinear extension -scale * sum_i sum_cd p_i(c) p_(i+1)(d) D(c, d), where
    p_i(c) is the probability that position i has city c if the coordinates of the code are independent with
    means theta. It is finite and in closed form at every state. Codes that are not cities have the largest
    distance of two cities to all others, so that the gradient points away from them. Arguments must be
    states of the space, which is not checked.

    Args:
        distances: ``(n, n)`` from the city of the row to that of the column, float64.
        scale: of U, above zero.
        encoding: ``bits``, n words of ceil(log2 n) bits, highest first, on {0, 1}^(n ceil(log2 n)); or
            ``one_hot``, n one-hot vectors over the cities.
        shortest: length of the shortest tour, where it is known and tours are too many to list.

    Attributes:
        sample: independent exact draws, as `targets.target.ExactlySampled` has it; for at most 8 cities.
        cities: n, the number of cities and of positions.
        distances: D ``(codes, codes)``, from the city of the row to that of the column.
        scale: scale of U.

    Raises:
        ValueError: naming the argument.
    """

    constrained = True
    distances: Tensor
    _words: Tensor
    _tours: Tensor
    _probability_bits: Tensor
    _cumulative_bits: Tensor

    def __init__(
        self, distances: Tensor, scale: float, encoding: str = "bits", shortest: float | None = None
    ) -> None:
        super().__init__()
        one_of("encoding", encoding, ENCODINGS)
        self.cities = n = len(distances)
        self.scale, self._shortest = scale, shortest
        self.width = (n - 1).bit_length()
        self.space = Binary(n * self.width) if encoding == "bits" else Categorical(n, n)
        codes = 2**self.width if encoding == "bits" else n
        padded = torch.full((codes, codes), float(distances.max()), dtype=torch.float64)
        padded[:n, :n] = distances
        self.register_buffer("distances", padded)
        words = 2 ** torch.arange(self.width - 1, -1, -1)
        self.register_buffer("_words", words, persistent=False)
        if n > MOST_LISTED:
            return
        # An attribute only where the tours are listed: other instances are not `ExactlySampled`.
        self.sample = self._sample
        listed = Tours(n, n).states().long()
        probabilities = (-self.scale * distances[listed, listed.roll(-1, -1)].sum(-1)).softmax(0)
        # Whole-number buffers move with .to(device) but are not rounded by .to(dtype).
        self.register_buffer("_tours", listed, persistent=False)
        self.register_buffer("_probability_bits", probabilities.view(torch.int64), persistent=False)
        cumulative = probabilities.cumsum(0)
        cumulative /= cumulative[-1].clone()
        self.register_buffer("_cumulative_bits", cumulative.view(torch.int64), persistent=False)

    def tour(self, theta: Tensor) -> Tensor:
        """The code at each position, ``(*batch, n)``, int64; codes of at least n are not cities."""
        if isinstance(self.space, Categorical):
            return self.space.to_levels(theta)
        return (theta.reshape(*theta.shape[:-1], self.cities, self.width).long() * self._words).sum(-1)

    def state(self, tour: Tensor) -> Tensor:
        """The state ``(*batch, *event_shape)`` of a `tour` ``(*batch, n)``."""
        if isinstance(self.space, Categorical):
            return self.space.from_levels(tour, self.distances.dtype)
        bits = (tour.unsqueeze(-1) & self._words) > 0
        return bits.flatten(-2).to(self.distances.dtype)

    def cost(self, tour: Tensor) -> Tensor:
        """Length of each closed tour ``(*batch, n)``, ``(*batch)``, float64."""
        return self._legs(tour).double().sum(-1)

    def log_prob(self, theta: Tensor) -> Tensor:
        return self._log_prob(self.tour(theta))

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        tour = self.tour(theta)
        before, after = tour.roll(1, -1).unsqueeze(-1), tour.roll(-1, -1).unsqueeze(-1)
        if isinstance(self.space, Categorical):
            every = torch.arange(self.cities, device=theta.device)
            grad = self._distance(before, every) + self._distance(every, after)
            return self._log_prob(tour), grad.mul_(-self.scale)
        here = tour.unsqueeze(-1)
        flipped = here ^ self._words
        rise = self._distance(before, flipped) + self._distance(flipped, after)
        rise -= self._distance(before, here) + self._distance(here, after)
        grad = rise.flatten(-2).mul_(torch.rsub(theta, 1.0, alpha=2.0)).mul_(-self.scale)
        return self._log_prob(tour), grad

    def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent uniform tours as states, ``(*shape, *event_shape)``."""
        tours = Tours(self.cities, self.cities)
        return self.state(tours.initial(shape, generator, like=self.distances).long())

    def tours(self) -> Tensor:
        """All tours ``(n!, n)``, int64, in lexicographic order; rotations are distinct.

        Raises:
            ValueError: for more than 8 cities.
        """
        if self.cities > MOST_LISTED:
            raise ValueError(
                f"the tours of {self.cities} cities are too many to list, {MOST_LISTED} is the limit"
            )
        return self._tours

    def tour_probabilities(self) -> Tensor:
        """Exact probability of each of `tours()`, ``(n!,)``, float64.

        Raises:
            ValueError: for more than 8 cities.
        """
        self.tours()
        return self._probability_bits.view(torch.float64)

    def optimum(self) -> float | None:
        """Length of the shortest tour: by enumeration if possible, else as published; None if unknown."""
        if self.cities <= MOST_LISTED:
            return float(self.cost(self.tours()).min())
        return self._shortest

    def _sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent exact draws ``(*shape, *event_shape)``, by inversion of the distribution function."""
        cumulative = self._cumulative_bits.view(torch.float64)
        draws = uniform(generator, shape, like=cumulative)
        return self.state(
            look_up(self._tours, torch.searchsorted(cumulative, draws.contiguous(), right=True))
        )

    def _log_prob(self, tour: Tensor) -> Tensor:
        log_prob = self._legs(tour).sum(-1).mul_(-self.scale)
        return log_prob.masked_fill_(~is_tour(tour, self.cities), -torch.inf)

    def _legs(self, tour: Tensor) -> Tensor:
        """Distance from each position to the next, ``(*batch, n)``."""
        return self._distance(tour, tour.roll(-1, -1))

    def _distance(self, origin: Tensor, destination: Tensor) -> Tensor:
        """D between two codes, whose shapes broadcast."""
        return look_up(self.distances.flatten(), origin * len(self.distances) + destination)
