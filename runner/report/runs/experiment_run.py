"""One run of an experiment, and the values that a table takes from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from metrics.statistics.closed_form import expected

if TYPE_CHECKING:
    from runner.store.run_folder import RunFolder

REFERENCE = "samplers.reference."
"""Where draws come from that are no sampler's: exact, uniform and held-out ones."""

IMAGES, OF_DATA = "task.images", "training"
"""The key that says whose images a run works on, and its value for those of the data set."""


@dataclass(frozen=True)
class Run:
    """One run of the experiment, done or not.

    Attributes:
        row: label of its row.
        column: label of its column.
        seed: its seed.
        run_id: its identity.
        status: one of `runner.store.run_folder.STATUSES`.
        config: resolved configuration of its job.
        summary: what the run measured; None unless it is done.
        folder: its folder in the store.
        exact_values: by metric, of a run that stands in a row of exact values, and has no folder there; None
            in any other row.
    """

    row: str
    column: str
    seed: int
    run_id: str
    status: str
    config: DictConfig
    summary: Mapping[str, Any] | None
    folder: RunFolder
    exact_values: Mapping[str, float] | None = None

    def value(self, metric: str) -> float | None:
        """Final value of `metric`; None where the run has none, or it is not finite.

        Besides what was measured there are the run's `seconds`, `seconds_per_step` (of all its chains) and
        `tuning_evaluations`, 0 where nothing was tuned; and of any metric, such as `ess`, its value over the
        seconds of the run, ``ess_per_second``, and over the evaluations of all its chains,
        ``ess_per_evaluation``. Burn-in counts in both, tuning in neither.
        """
        if self.summary is None:
            return None
        measured, _, cost = metric.rpartition("_per_")
        if cost in ("second", "evaluation") and metric not in self.summary["metrics"]:
            return self._rate(measured, cost)
        tuning = self.summary.get("tuning") or {"evaluations": 0}
        seconds, steps = self.summary["seconds"], self.summary.get("steps")
        own = {"seconds": seconds, "tuning_evaluations": tuning["evaluations"]}
        if steps:
            own["seconds_per_step"] = seconds / steps
        value = {**own, **self.summary["metrics"]}.get(metric)
        return float(value) if value is not None and finite(value) else None

    def expectation(self, metric: str) -> float | None:
        """What is known of `metric` in closed form: of reference draws, and in a row of exact values.

        A sampler's run is what it measured, whatever else one of its metrics calls expected.
        """
        if self.exact_values is not None:
            return self.exact_values.get(metric)
        value = self.value(expected(metric))  # few runs have one, and their configurations are slow to ask
        return value if value is not None and drawn_by_reference(self.config) else None

    def is_without(self, metric: str) -> bool:
        """Whether the run failed, or measured `metric` and has no finite value of it."""
        if self.summary is None:
            return self.status == "failed"
        name = self._measured_as(metric)
        return name is not None and not finite(self.summary["metrics"][name])

    def measured(self, metric: str) -> bool:
        """Whether the run has a value of `metric`, be it no finite one."""
        return self.value(metric) is not None or self._measured_as(metric) is not None

    def _measured_as(self, metric: str) -> str | None:
        """What the run measured for `metric`, which may be a rate of it; None for nothing."""
        found = {} if self.summary is None else self.summary["metrics"]
        names = metric, metric.rpartition("_per_")[0]
        return next((name for name in names if name in found), None)

    def _rate(self, metric: str, cost: str) -> float | None:
        """`metric` over the run's seconds, or the evaluations of all its chains; None where those are 0."""
        assert self.summary is not None
        value, spent = self.value(metric), self.value("seconds")
        if cost == "evaluation":
            chains = OmegaConf.select(self.config, "task.chains") or 0
            spent = (self.value("evaluations") or 0.0) * chains
        return value / spent if value is not None and spent else None


def drawn_by_reference(config: Any) -> bool:
    """Whether the states of a run with this configuration are draws that no sampler made."""
    by_reference = str(OmegaConf.select(config, "sampler._target_")).startswith(REFERENCE)
    return by_reference or OmegaConf.select(config, IMAGES) == OF_DATA


def finite(value: Any) -> bool:
    """Whether a stored value is a finite number; others are stored as None."""
    return value is not None and math.isfinite(value)
