"""The manifest of a record to which the runs of further seeds were added."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.execution.override_values import key_of
from runner.tasks.task import span

SEED = "seed"
"""The key of the seeds, the only override that may differ."""

OF_ATTEMPTS = ("git", "device", "threads", "packages")
"""What the manifest has the distinct values of."""


def merged(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of both.

    Args:
        then: that of the record.
        now: that of the added runs alone.
    """
    seeds = sorted({*then["seeds"], *now["seeds"]})
    others = [line for line in then["overrides"] if key_of(line) != SEED]
    runs = {name: then["runs"][name] + now["runs"][name] for name in ("done", "expected")}
    costs = then["evaluations_per_chain"], now["evaluations_per_chain"]
    return {
        **now,
        "overrides": [*others, f"{SEED}={','.join(map(str, seeds))}"],
        "runs": {**runs, "by_status": _sums(then["runs"]["by_status"], now["runs"]["by_status"])},
        "seconds": _sums(then["seconds"], now["seconds"]),
        "evaluations_per_chain": {row: span(_ends(costs[0][row]) + _ends(costs[1][row])) for row in costs[1]},
        "seeds": seeds,
        **{key: distinct([*then[key], *now[key]]) for key in OF_ATTEMPTS},
    }


def distinct(values: Iterable[Any]) -> list[Any]:
    """Values of JSON without repetitions, in one order."""
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]


def _sums(then: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    return {key: then.get(key, 0) + now.get(key, 0) for key in {**then, **now}}


def _ends(numbers: str) -> list[int]:
    """The ends of what `span` has written: of ``100 to 2,000`` they are 100 and 2000."""
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", numbers)]
