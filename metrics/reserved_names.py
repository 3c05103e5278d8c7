"""Names that no measured value may have."""

from __future__ import annotations

from collections.abc import Iterable

OF_EVERY_RUN = (
    *("step", "steps", "evaluations", "seconds", "wall_seconds"),
    *("seconds_per_step", "tuning_evaluations"),
)
"""What is counted and timed of every run; no metric has to be asked for."""

RESERVED = (
    *OF_EVERY_RUN,
    "run_id",
    "status",
    "experiment",
    "seed",
    *("target", "sampler", "task", "scale", "metric", "tuning", "tuned"),
    *("model", "device", "dtype", "streams", "threads", "compile"),
)
"""What the runner says of a run itself: a value with such a name would hide it.

So would one that begins with such a name and a dot, such as ``sampler.step_size``.
"""


def reserved(names: Iterable[str]) -> str | None:
    """The first of `names`, by the alphabet, that is the run's own; None where none is."""
    return min((name for name in names if name.split(".", 1)[0] in RESERVED), default=None)
