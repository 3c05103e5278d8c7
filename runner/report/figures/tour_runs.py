"""What the runs of a column visited of the tours of a few cities, for the panels that draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from omegaconf import DictConfig

from runner.execution.errors import UserError
from runner.report.runs.experiment_run import Run
from runner.store.arrays.array_files import load_visits

if TYPE_CHECKING:
    from targets.tours.tour_density import TourDensity


@dataclass(frozen=True)
class VisitedTours:
    """Tours that runs of different seeds visited, one after the other; each once a seed.

    Attributes:
        cost: length of each, ``(tours,)``.
        mismatch: positions in which it differs from the best tour of its seed, ``(tours,)``, whole numbers.
        share: of the draws of all seeds, ``(tours,)``, summing to one.
    """

    cost: np.ndarray
    mismatch: np.ndarray
    share: np.ndarray


def listed_target(config: DictConfig) -> TourDensity:
    """The run's target, whose tours can be listed.

    Raises:
        UserError: if it is another, or has too many cities.
    """
    from runner.problem.build import build_target  # takes torch, and only some tables have such a panel
    from targets.tours.tour_density import TourDensity
    from targets.tours.tour_space import MOST_LISTED

    target = build_target(config)
    if not isinstance(target, TourDensity) or target.cities > MOST_LISTED:
        raise UserError(
            f"Panels of tours need a target of tours, such as tsp, of at most {MOST_LISTED} cities."
        )
    return target


def visited_tours(runs: Sequence[Run], target: TourDensity) -> VisitedTours | None:
    """The tours that `runs` visited; None where no run stored its visits."""
    from metrics.applications.tour_mismatch import best_of, mismatches

    tours, costs = target.tours(), target.cost(target.tours())
    parts = []
    for run in runs:
        counts = load_visits(run.folder.path) if run.summary is not None else None
        if counts is None or counts.shape != costs.shape:
            continue
        seen = counts > 0
        best = tours[best_of(costs, costs.new_tensor(seen).bool())]
        gaps = mismatches(tours, best).numpy()
        parts.append((costs.numpy()[seen], gaps[seen], counts[seen] / counts.sum()))
    if not parts:
        return None
    cost, mismatch, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    return VisitedTours(cost, mismatch, share / len(parts))


def tour_distribution(target: TourDensity) -> tuple[np.ndarray, np.ndarray]:
    """Length and exact probability of every tour, ``(n!,)`` each, shortest first."""
    costs = target.cost(target.tours()).numpy()
    order = np.argsort(costs, kind="stable")
    return costs[order], target.tour_probabilities().numpy()[order]


def quantiles(values: np.ndarray, weights: np.ndarray, levels: Sequence[float]) -> list[float]:
    """The least value at which the distribution function of weighted `values` reaches each level."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached / reached[-1], np.asarray(levels) - 1e-12)
    return [float(values[order][min(place, len(values) - 1)]) for place in places]
