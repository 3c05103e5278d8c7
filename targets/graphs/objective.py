"""The protocol of targets whose states are candidate solutions of an optimisation problem."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class HasObjective(Protocol):
    """A target U = scale * (objective - penalty), or scale * (-objective - penalty) where it is minimised."""

    direction: Literal["min", "max"]
    """Whether the objective is minimised or maximised."""
    scale: float
    """U per unit of the objective: an inverse temperature of its own."""

    def objective(self, theta: Tensor) -> Tensor:
        """The objective without penalty, ``(*batch)``, float64; a solution's value if `theta` is feasible."""

    def feasible(self, theta: Tensor) -> Tensor:
        """Whether each state is a solution, ``(*batch)``, bool."""

    def repaired(self, theta: Tensor) -> Tensor:
        """A feasible state for each of `theta`, of its shape, found greedily and without random numbers."""

    def optimum(self) -> float | None:
        """The optimum; None where it is not known."""

    def best_known(self) -> float | None:
        """The optimum, or the best objective that has been published; None where neither is known."""
