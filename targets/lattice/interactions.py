"""Which sites interact and how strongly, and the weighted sum over the neighbours of every site."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from targets.tracing import is_traced


class Interactions(nn.Module, ABC):
    """Symmetric couplings J_ij of sites, without self-couplings.

    Attributes:
        d: number of sites.
        edges: each interacting pair once, ``(E, 2)``, int64; two edges may join the same pair.
    """

    d: int
    edges: Tensor

    @abstractmethod
    def strengths(self) -> Tensor:
        """J of each edge, ``(E,)``."""

    @abstractmethod
    def sums(self, values: Tensor, inner: int = 0) -> Tensor:
        """sum_j J_ij v_j of every site i.

        Args:
            values: ``(*batch, d, *inner)``.
            inner: number of axes behind that of the sites.
        """


class Torus(Interactions):
    """A lattice in any number of dimensions whose opposite sides are joined (periodic boundaries).

    Sums over neighbours shift the whole lattice; no matrix or list of neighbours is read. Along a side of
    length 2 two edges join a site with its neighbour.

    Args:
        sides: number of sites along each side, at least 2; the last one runs fastest.
        coupling: J of all edges, a scalar, or of each edge, ``(dimensions, *sides)``: that of a site
            with its next neighbour along each dimension.
    """

    coupling: Tensor

    def __init__(self, sides: Sequence[int], coupling: Tensor) -> None:
        super().__init__()
        self.sides, self.d = tuple(sides), math.prod(sides)
        self.register_buffer("coupling", coupling)
        site = torch.arange(self.d).reshape(self.sides)
        pairs = [torch.stack([site, site.roll(-1, axis)], -1) for axis in range(len(self.sides))]
        self.register_buffer("edges", torch.stack(pairs).reshape(-1, 2))

    def strengths(self) -> Tensor:
        return self.coupling.expand(len(self.sides), *self.sides).flatten()

    def sums(self, values: Tensor, inner: int = 0) -> Tensor:
        first = values.dim() - inner - 1
        grid = values.reshape(*values.shape[:first], *self.sides, *values.shape[first + 1 :])
        total = torch.zeros_like(grid)
        for axis, side in enumerate(self.sides):
            place = first + axis - grid.dim()
            each = self.coupling[axis].reshape(*self.sides, *(1,) * inner) if self.coupling.dim() else None
            if is_traced():
                total = total + _both_neighbours(grid, each, place)
                continue
            # Sites with their next neighbour: all but the last of a side, then the last with the first.
            for low, high, length in ((0, 1, side - 1), (side - 1, 0, 1)):
                next_one, this = grid.narrow(place, high, length), grid.narrow(place, low, length)
                if each is not None:
                    coupling = each.narrow(place, low, length)
                    next_one, this = coupling * next_one, coupling * this
                total.narrow(place, low, length).add_(next_one)
                total.narrow(place, high, length).add_(this)
        total = total if self.coupling.dim() else total.mul_(self.coupling)
        return total.reshape(values.shape)


def _both_neighbours(grid: Tensor, each: Tensor | None, place: int) -> Tensor:
    """Sums over the two neighbours along the axis `place`, for a compiler: of padded copies, without writes.

    Args:
        each: coupling of every site with the next one; None: 1.
    """
    padded = _padded(grid, place)
    next_ones = padded.narrow(place, 2, grid.shape[place])
    if each is None:
        return next_ones + padded.narrow(place, 0, grid.shape[place])
    return each * next_ones + _padded(each * grid, place).narrow(place, 0, grid.shape[place])


def _padded(grid: Tensor, place: int) -> Tensor:
    """`grid` with its last slice along an axis also before it, and its first behind it."""
    first, last = grid.narrow(place, 0, 1), grid.narrow(place, grid.shape[place] - 1, 1)
    return torch.cat([last, grid, first], place)


class SparseInteractions(Interactions):
    """Any graph, as a list of edges; the sums gather one neighbour of every site at a time.

    Args:
        d: number of sites.
        edges: pairs of different sites, ``(E, 2)``, int64.
        coupling: J of each edge, ``(E,)``.
    """

    neighbours: Tensor
    weights: Tensor
    coupling: Tensor

    def __init__(self, d: int, edges: Tensor, coupling: Tensor) -> None:
        super().__init__()
        self.d = d
        ends, others = torch.cat([edges, edges.flip(-1)]).unbind(-1)
        order = ends.argsort(stable=True)
        degrees = ends.bincount(minlength=d)
        slot = torch.arange(len(ends)) - (degrees.cumsum(0) - degrees)[ends[order]]
        slots = int(degrees.max()) if len(edges) else 0
        # Sites with fewer neighbours than others have themselves as further ones, with weight zero.
        neighbours = torch.arange(d).repeat(slots, 1)
        weights = coupling.new_zeros((slots, d))
        neighbours[slot, ends[order]] = others[order]
        weights[slot, ends[order]] = torch.cat([coupling, coupling])[order]
        for name, value in (("edges", edges), ("coupling", coupling)):
            self.register_buffer(name, value)
        self.register_buffer("neighbours", neighbours)
        self.register_buffer("weights", weights)

    def strengths(self) -> Tensor:
        return self.coupling

    def sums(self, values: Tensor, inner: int = 0) -> Tensor:
        sites = values.dim() - inner - 1
        total = torch.zeros_like(values)
        for neighbour, weight in zip(self.neighbours, self.weights, strict=True):
            total.addcmul_(values.index_select(sites, neighbour), weight.reshape(-1, *(1,) * inner))
        return total
