"""What panels need to know of targets and metrics, kept in the index: to find it out takes torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from runner.report.figures.metric_axis import Quantity
from runner.site.index.known_quantities import known_quantities
from runner.site.index.store_index import Index
from runner.store.short_hash import short_hash


@dataclass(frozen=True)
class ExactStates:
    """A small binary target.

    Attributes:
        bits: how many coordinates a state has.
        probabilities: of its states, ``(size,)``.
        named: numbers of the states that the target names, by letter (F flat, S sharp).
        eigenvalues: of the Hessian at each state, ``(size, bits)``; empty where the target has none.
    """

    bits: int
    probabilities: np.ndarray
    named: dict[str, list[int]]
    eigenvalues: np.ndarray


@dataclass(frozen=True)
class Known:
    """What is known of the targets of runs, by their configurations, and of metrics.

    Attributes:
        own: the user's own metrics (`runner.catalogue.metric_paths.own_metrics`); None for those of all runs.
    """

    index: Index
    own: Mapping[str, str] | None = None

    def grid(self, config: DictConfig) -> np.ndarray:
        """Probabilities of the cells of a square grid, ``(levels, levels)``."""
        return np.array(self._kept("grid", config, _grid))

    def states(self, config: DictConfig) -> ExactStates:
        """The states of a small binary target.

        Raises:
            UserError: if the target is another.
        """
        found = self._kept("states", config, _states)
        return ExactStates(
            found["bits"], np.array(found["probabilities"]), found["named"], np.array(found["eigenvalues"])
        )

    def tours(self, config: DictConfig) -> dict[str, Any]:
        """How tours are spread under the target, see `_tours`.

        Raises:
            UserError: if the tours of the target cannot be listed.
        """
        found: dict[str, Any] = self._kept("tours", config, _tours)
        return found

    def coordinates(self, config: DictConfig) -> tuple[list[float], list[float]]:
        """The values of a target's coordinates and their probabilities; empty where they are not known."""
        values, weights = self._kept("coordinates", config, _coordinates)
        return values, weights

    def quantity(self, metric: str) -> Quantity:
        """Unit, range and direction of a metric."""
        return known_quantities([metric], self.index, self.own)[metric]

    def _kept(self, what: str, config: DictConfig, compute: Callable[[DictConfig], Any]) -> Any:
        kept = self.index.kept.setdefault("exact", {})
        key = short_hash({"what": what, "target": OmegaConf.to_container(config.target, resolve=True)})
        if key not in kept:
            kept[key] = compute(config)
        return kept[key]


def _grid(config: DictConfig) -> list[list[float]]:
    from runner.report.panels.heat_map import target_probabilities

    found: list[list[float]] = target_probabilities(config).tolist()
    return found


def _states(config: DictConfig) -> dict[str, Any]:
    from runner.report.panels.hessian_spectrum import eigenvalues_of
    from runner.report.panels.states import FRAMES, probabilities_of, small_binary_target
    from targets import Binary

    target = small_binary_target(config)
    assert isinstance(target.space, Binary)
    known = [(letter, getattr(target, name, None)) for name, letter, _ in FRAMES]
    return {
        "bits": target.space.d,
        "probabilities": probabilities_of(target).tolist(),
        "named": {
            letter: target.space.index(states).tolist() for letter, states in known if states is not None
        },
        "eigenvalues": eigenvalues_of(target).tolist() if hasattr(target, "hessians") else [],
    }


def _coordinates(config: DictConfig) -> list[list[float]]:
    from runner.report.figures.auxiliary_shares import coordinate_values

    return list(coordinate_values(config))


def _tours(config: DictConfig) -> dict[str, Any]:
    """Cities, quantiles of the length (`LEVELS`), shares of lengths and of mismatches in their bins."""
    from runner.report.figures.tour_runs import listed_target, quantiles, tour_distribution
    from runner.report.panels.tour_costs import LEVELS
    from runner.report.panels.tour_marginals import BINS, mismatch_distribution

    target = listed_target(config)
    costs, probabilities = tour_distribution(target)
    heights, ends = np.histogram(costs, BINS, (costs.min(), costs.max()), weights=probabilities)
    return {
        "cities": target.cities,
        "quantiles": quantiles(costs, probabilities, LEVELS),
        "ends": ends.tolist(),
        "lengths": heights.tolist(),
        "mismatches": mismatch_distribution(target).tolist(),
    }
