"""The tour that a run visited most often, drawn on its cities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from runner.execution.errors import UserError
from runner.site.content.pictures import SIDE, Picture, picture_of
from runner.store.arrays.array_files import load_visits

TOURS = "targets.tours."
MARGIN, DOT, FINE = 24, 5, 2
"""Pixels around the cities, of a city's radius, and how many times finer the lines are drawn."""


def visited_tour(folder: Path, config: Mapping[str, Any] | None) -> Picture | None:
    """The tour that was visited most often; None where the run is of another target or keeps no visits."""
    counts = load_visits(folder) if _is_tour(config) else None
    if counts is None or counts.max(initial=0) <= 0:
        return None
    # The only pages that need torch.
    from omegaconf import OmegaConf

    from runner.report.figures.tour_runs import listed_target

    try:
        target = listed_target(OmegaConf.create(dict(config or {})))
    except UserError:
        return None
    tours = target.tours()
    if counts.size != len(tours):
        return None
    most = int(counts.argmax())
    n, tour = target.cities, tours[most].tolist()
    title = (
        f"The order of cities that was visited most often: {counts[most] / counts.sum():.1%} of the draws, "
        f"length {float(target.cost(tours[most])):.3g}. "
        "Cities are placed by their distances (classical scaling)"
    )
    return picture_of(_drawn(placed(target.distances[:n, :n].numpy()), tour), "lines", title)


def placed(distances: NDArray[Any]) -> NDArray[Any]:
    """Points ``(n, 2)`` whose distances come near to these, by classical scaling of their symmetric part."""
    squares = ((distances + distances.T) / 2) ** 2
    centred = squares - squares.mean(0) - squares.mean(0)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    points: NDArray[Any] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return points


def _is_tour(config: Mapping[str, Any] | None) -> bool:
    return str(((config or {}).get("target") or {}).get("_target_")).startswith(TOURS)


def _drawn(points: NDArray[Any], tour: Sequence[int]) -> Image.Image:
    """The closed way through the points in the order of `tour`; its first city is filled."""
    low, wide = points.min(0), max(np.ptp(points, axis=0).max(), 1e-12)
    at = FINE * (MARGIN + (points - low) / wide * (SIDE - 2 * MARGIN))
    picture = Image.new("L", (FINE * SIDE, FINE * SIDE), 255)
    pen = ImageDraw.Draw(picture)
    pen.line([tuple(at[city]) for city in (*tour, tour[0])], fill=0, width=FINE)
    for city in tour:
        (x, y), radius = at[city], FINE * DOT
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(box, fill=0 if city == tour[0] else 255, outline=0, width=FINE)
    return picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
