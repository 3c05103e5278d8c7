"""The methods of `spectral_gap` by name, and the keys of the task that each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.tasks.task import alternatives

KERNEL = "kernel"
DIFFUSIONS = ("ld", "reld", "mreld")
THEORY = ("proposition1", "barrier")
METHODS = (KERNEL, *DIFFUSIONS, *THEORY)

REPLICAS = ("grid", "box", "negligible", "memory", "restrict", "radius")
KEYS = {
    KERNEL: ("memory", "restrict", "radius"),
    "ld": REPLICAS,
    "reld": (*REPLICAS, "tau", "rho", "reference", "scale"),
    "mreld": (*REPLICAS, "scale", "levels", "choice", "alpha", "length"),
    **dict.fromkeys(THEORY, ("length", "distance", "restrict")),
}
"""The keys of the task that each method reads, besides those that every one has."""
SOME = frozenset(key for keys in KEYS.values() for key in keys)


def why_unread(task: Mapping[str, Any], key: str) -> str | None:
    """Why the method of `task` does not read `key` of it, in words; None where it does, or refuses it."""
    method = task["method"]
    if key == "radius" and task["restrict"] != "ball":
        return "only task.restrict=ball reads it"
    if key == "alpha" and method == "mreld" and task["choice"] != "geometric":
        return "only task.choice=geometric reads it"
    if key not in SOME or key in KEYS.get(method, SOME):
        return None
    readers = alternatives(name for name, keys in KEYS.items() if key in keys)
    return f"only task.method={readers} reads it"
