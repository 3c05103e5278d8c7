"""The manifest of a record to which the runs of further seeds were added."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.execution.override_values import key_of
from runner.tasks.task import span

SEED = "seed"
"""The key of the seeds."""

TUNINGS = "tunings"
"""The key of the seconds of each tuning; runs of several seeds may share one."""

OF_ATTEMPTS = ("git", "device", "threads", "packages")
"""What the manifest has the distinct values of."""


def merged(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of both, all of whose runs are done.

    Args:
        then: that of the record.
        now: that of the added runs alone, maybe of some rows and columns; what it says of a page is said of
            both.
    """
    seeds = {*then["seeds"], *now["seeds"]}
    runs = {name: then["runs"][name] + now["runs"][name] for name in ("done", "expected")}
    costs = then["evaluations_per_chain"], now["evaluations_per_chain"]
    tunings = {**then.get(TUNINGS, {}), **now[TUNINGS]}
    sampling = then["seconds"]["sampling"] + now["seconds"]["sampling"]
    return {
        **now,
        "overrides": with_seeds(then["overrides"], seeds),
        "runs": {**runs, "by_status": {"done": runs["done"]}},
        "seconds": {"sampling": sampling, "tuning": sum(tunings.values())},
        TUNINGS: tunings,
        "evaluations_per_chain": {
            row: span([end for cost in costs if row in cost for end in _ends(cost[row])])
            for row in dict.fromkeys([*costs[0], *costs[1]])
        },
        "seeds": sorted(seeds),
        **{key: distinct([*then[key], *now[key]]) for key in OF_ATTEMPTS},
    }


def with_seeds(overrides: Iterable[str], seeds: Iterable[int]) -> list[str]:
    """`overrides` that choose these seeds, whatever they chose before."""
    others = [line for line in overrides if key_of(line) != SEED]
    return [*others, f"{SEED}={','.join(map(str, sorted(seeds)))}"]


def distinct(values: Iterable[Any]) -> list[Any]:
    """Values of JSON without repetitions, in one order."""
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]


def _ends(numbers: str) -> list[int]:
    """The ends of what `span` has written: of ``100 to 2,000`` they are 100 and 2000."""
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", numbers)]
