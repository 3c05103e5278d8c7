"""From settings to interactions: lattices and random graphs, with constant or random couplings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import torch
from torch import Tensor

from targets.checks import is_number, one_of, whole_number
from targets.lattice.interactions import Interactions, SparseInteractions, Torus
from targets.randomness import derive_seed, normal, uniform

DIMENSIONS = {"square": 2, "cubic": 3}
DISORDERS = ("none", "gaussian", "bimodal")


@dataclass(frozen=True)
class Geometry:
    """Which sites interact: a periodic lattice, or a random graph in which all have equally many neighbours.

    Attributes:
        geometry: ``square``, ``cubic`` or ``random``.
        size: sites along each side, one number for all sides or one for each; of a random graph, all sites.
        degree: number of neighbours of every site of a random graph.
        instance_seed: of the random graph and of random couplings.

    Raises:
        ValueError: if a size is below 2, or no graph has the degree.
    """

    geometry: str
    size: int | Sequence[int]
    degree: int = 4
    instance_seed: int = 0

    def __post_init__(self) -> None:
        one_of("geometry", self.geometry, (*DIMENSIONS, "random"))
        whole_number("instance_seed", self.instance_seed, 0)
        if self.geometry not in DIMENSIONS:
            whole_number("size", self.size, 2)
            _check_degree(self.degree, int(self.size))  # type: ignore[arg-type]
        elif isinstance(self.size, Integral):
            whole_number("size", self.size, 2)
        else:
            dimensions = DIMENSIONS[self.geometry]
            if not isinstance(self.size, list | tuple) or len(self.size) != dimensions:
                raise ValueError(
                    f"size must be one whole number or {dimensions} of them for geometry={self.geometry}, "
                    f"{self.size!r} was given"
                )
            for side in self.size:
                whole_number("size", side, 2)

    @property
    def sides(self) -> tuple[int, ...]:
        """Sites along each side of a lattice; of a random graph, all of them."""
        if isinstance(self.size, Sequence):
            return tuple(map(int, self.size))
        return (int(self.size),) * DIMENSIONS.get(self.geometry, 1)

    def interactions(self, coupling: float, disorder: str = "none") -> Interactions:
        """The edges with their couplings, in float64.

        Args:
            coupling: J of every edge; with disorder its scale.
            disorder: ``none``; ``gaussian``, normal with mean zero and standard deviation `coupling`
                (Edwards and Anderson 1975); ``bimodal``, plus or minus `coupling` with equal probability.
        """
        finite("coupling", coupling)
        one_of("disorder", disorder, DISORDERS)
        if self.geometry in DIMENSIONS:
            shape = (len(self.sides), *self.sides)
            return Torus(self.sides, self._drawn(coupling, disorder, shape))
        import networkx

        seed = derive_seed(self.instance_seed, "graph")
        graph = networkx.random_regular_graph(self.degree, self.sides[0], seed=seed)
        edges = torch.tensor(sorted(tuple(sorted(edge)) for edge in graph.edges))
        drawn = self._drawn(coupling, disorder, (len(edges),))
        # A buffer of its own memory, into which a state can be loaded.
        return SparseInteractions(self.sides[0], edges, drawn.expand(len(edges)).clone())

    def _drawn(self, coupling: float, disorder: str, shape: tuple[int, ...]) -> Tensor:
        like = torch.empty(0, dtype=torch.float64)
        generator = torch.Generator().manual_seed(derive_seed(self.instance_seed, "couplings"))
        if disorder == "gaussian":
            return coupling * normal(generator, shape, like=like)
        if disorder == "bimodal":
            return coupling * (2.0 * (uniform(generator, shape, like=like) < 0.5).double() - 1.0)
        return torch.tensor(float(coupling), dtype=torch.float64)


def finite(key: str, value: object) -> float:
    """`value` as a float if it is a finite number.

    Raises:
        ValueError: otherwise.
    """
    if not is_number(value) or not abs(float(value)) < float("inf"):  # type: ignore[arg-type]
        raise ValueError(f"{key} must be a finite number, {value!r} was given")
    return float(value)  # type: ignore[arg-type]


def _check_degree(degree: int, nodes: int) -> None:
    whole_number("degree", degree, 1)
    if degree >= nodes or degree * nodes % 2:
        raise ValueError(
            "degree must be below size, and their product even, for a random graph to have it; "
            f"degree={degree} and size={nodes} were given"
        )
