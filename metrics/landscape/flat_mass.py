"""Share of the draws at the flat modes and at the sharp modes of a target."""

from __future__ import annotations

from typing import cast

from torch import Tensor

from metrics.metric import Context, by_seed
from metrics.requirements import require_members
from metrics.statistics.visit_histogram import FrequencyMetric
from targets.target import HasFlatStates


class FlatMass(FrequencyMetric):
    """Share of the draws at the states that the target declares flat, or sharp (EDLP, section 6.1).

    Values, one per seed:
        flat_mass, sharp_mass: visits to these states over the number of draws.
        flat_mass_exact, sharp_mass_exact: their probabilities under the target.

    Raises:
        UnsupportedMetric: if the target's states cannot be listed, or it declares no flat and sharp states.
    """

    name = "flat_mass"
    unit = "probability"
    bounds = (0.0, 1.0)
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        members = ("flat_states", "sharp_states")
        need = "that names flat and sharp states; {} names none"
        named = cast(HasFlatStates, require_members(self.name, context, members, need))
        self.places = {
            self.name: self.space.index(named.flat_states).to(context.device),
            "sharp_mass": self.space.index(named.sharp_states).to(context.device),
        }

    def result(self) -> dict[str, Tensor]:
        frequencies = self.visits.frequencies()
        values = {}
        for key, places in self.places.items():
            values[key] = by_seed(lambda row: row.sum(), frequencies[:, places])
            values[f"{key}_exact"] = self.probabilities[places].sum().repeat(self.context.seeds)
        return values
