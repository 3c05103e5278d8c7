"""Which sites interact and how strongly, and the weighted sum over the neighbours of every site."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from targets.compiling.tracing import is_traced


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
        couplings: list[Tensor | None] = [None] * len(self.sides)
        if self.coupling.dim():
            couplings = [each.reshape(*self.sides, *(1,) * inner) for each in self.coupling]
        total = (_windows if is_traced() else _slices)(grid, first, couplings)
        total = total if self.coupling.dim() else total.mul_(self.coupling)
        return total.reshape(values.shape)


def _slices(grid: Tensor, first: int, couplings: Sequence[Tensor | None]) -> Tensor:
    """Sums over neighbours along the axes from `first` on, added slice by slice.

    Args:
        couplings: for each axis that of a site with the next one; None for 1.
    """
    total = torch.zeros_like(grid)
    for axis, each in enumerate(couplings):
        place, side = first + axis, grid.shape[first + axis]
        # Sites with their next neighbour: all but the last of a side, then the last with the first.
        for low, high, length in ((0, 1, side - 1), (side - 1, 0, 1)):
            next_one, this = grid.narrow(place, high, length), grid.narrow(place, low, length)
            if each is not None:
                coupling = each.narrow(axis, low, length)
                next_one, this = coupling * next_one, coupling * this
            total.narrow(place, low, length).add_(next_one)
            total.narrow(place, high, length).add_(this)
    return total


def _windows(grid: Tensor, first: int, couplings: Sequence[Tensor | None]) -> Tensor:
    """`_slices` for a compiler: windows of a padded copy, without writes."""
    padded, total = _padded(grid, first), torch.zeros_like(grid)
    for place, each in enumerate(couplings, start=first):
        next_ones = _neighbours(padded, grid, first, place, 1)
        shared = padded if each is None else _padded(each * grid, first)
        total = total + (next_ones if each is None else each * next_ones)
        total = total + _neighbours(shared, grid, first, place, -1)
    return total


def _padded(grid: Tensor, first: int) -> Tensor:
    """`grid` with one slice more at each end of its axis `first`, as on a torus; flat from there on."""
    ends = grid.narrow(first, grid.shape[first] - 1, 1), grid.narrow(first, 0, 1)
    return torch.cat([ends[0], grid, ends[1]], first).flatten(first)


def _neighbours(padded: Tensor, grid: Tensor, first: int, place: int, step: int) -> Tensor:
    """The next (`step` 1) or the last (-1) neighbour of every site along the axis `place`, like `grid`."""
    stride, side = math.prod(grid.shape[place + 1 :]), grid.shape[place]

    def window(offset: int) -> Tensor:
        own = math.prod(grid.shape[first + 1 :])
        return padded.narrow(-1, own + offset, own * grid.shape[first]).reshape(grid.shape)

    near = window(step * stride)
    if place == first:
        return near
    site = torch.arange(side, device=grid.device).reshape(-1, *(1,) * (grid.dim() - place - 1))
    return torch.where(site == (side - 1 if step > 0 else 0), window(-step * (side - 1) * stride), near)


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
