"""The travelling salesman, of random cities or from a file (EDLP, section 6.2; settings E.2)."""

from __future__ import annotations

from targets.checks import positive_number, whole_number
from targets.tours.random_cities import random_cities
from targets.tours.tour_density import TourDensity
from targets.tours.tsplib import FEWEST, find_instance, read_instance

AUTO = "auto"

STEEPNESS = 10.0
"""Scale of the energy: of the unit square's lengths, and of a file's in units of their mean."""


class TSP(TourDensity):
    """U = -scale * length on tours, minus infinity on other states; see `TourDensity`.

    Spaces: tours.
    Source: EDLP, section 6.2.

    Args:
        cities: n of a random instance (`targets.tours.random_cities`).
        file: a TSPLIB file instead, as a path or below ``root/tsplib``.
        root: folder of all data sets.
        encoding: ``bits``, n words of ceil(log2 n) bits, highest first, on {0, 1}^(n ceil(log2 n)); or
            ``one_hot``, n one-hot vectors over the cities.
        scale: a positive number, or ``auto``: 10 for a random instance, 10 over the mean distance for a file.
        instance_seed: seed of the random instance.

    Attributes:
        sample: independent exact draws, as `targets.target.ExactlySampled` has it; for at most 8 cities.
        cities: n, the number of cities and of positions.
        distances: D ``(codes, codes)``, from the city of the row to that of the column.
        scale: scale of U.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """

    def __init__(
        self,
        cities: int = 8,
        file: str | None = None,
        root: str | None = None,
        encoding: str = "bits",
        scale: float | str = AUTO,
        instance_seed: int = 0,
    ) -> None:
        shortest: float | None = None
        if file is None:
            whole_number("cities", cities, FEWEST)
            distances, steepness = random_cities(cities, instance_seed), STEEPNESS
        else:
            instance = read_instance(find_instance(str(file), root))
            distances, shortest = instance.distances, instance.optimum
            steepness = STEEPNESS / (float(distances.sum()) / (len(distances) * (len(distances) - 1)))
        if scale != AUTO:
            steepness = positive_number("scale", scale, f"a positive number or '{AUTO}'")
        super().__init__(distances, steepness, encoding, shortest)
