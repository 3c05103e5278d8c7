"""Runs as the index of the report knows them, without any file."""

from __future__ import annotations

from runner.config.run_settings import Settings
from runner.site.index.run_entry import RunEntry

GIBBS: Settings = {"target": "mog", "target.components": 8, "sampler": "gibbs", "scale": "smoke"}


def entry(number: int, seed: int, settings: Settings, **metrics: float) -> RunEntry:
    """A run that is done."""
    return RunEntry(
        run_id=f"{number:016d}", stamp="", status="done", name="", experiment="", scale="smoke", seed=seed,
        settings=settings, changed=[], metrics=dict(metrics), costs={}, own_metrics={}, about={},
    )  # fmt: skip


def seeds(first: int, settings: Settings, *values: float) -> list[RunEntry]:
    """A run for each value of `tv`, by seeds from 0 on; `first` numbers the runs."""
    return [entry(first + seed, seed, settings, tv=value) for seed, value in enumerate(values)]
