"""What the `table:` block of an experiment names and does not have, with its place in the block."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.execution.errors import listed, nearest

LABELS = {"rows": "row", "columns": "label", "metrics": "metric", "figures": "name"}
"""The lists of the block, and the key by which each of their entries is known."""

VERSIONS = "published.versions"

NAMES = {
    "rows[].published{}": VERSIONS,
    "metrics[].published{}": VERSIONS,
    "metrics[].published_notes{}": VERSIONS,
    "metrics[].floor": "rows",
    "metrics[].rows[]": "rows",
    "figures[].panels[].columns[]": "columns",
    "figures[].panels[].row": "rows",
    "figures[].panels[].metric": "metrics",
    "comparisons[].rows[]": "rows",
    "comparisons[].metric": "metrics",
    "growths[].rows[]": "rows",
    "growths[].theory{}": "rows",
    "growths[].metric": "metrics",
    "growths[].along": "columns",
}
"""Where names of other parts of the block stand: ``[]`` in each entry of a list, ``{}`` as keys."""

ALONG = {
    "step": "steps",
    "evaluations": "target evaluations per chain, tuning not counted",
    "seconds": "seconds a run, tuning not counted",
}
"""What a curve along a run is drawn and fitted against, with the words of an axis."""


def along_runs(x: str, values: Sequence[float]) -> float:
    """Where a point of several runs is on the axis `x` of `ALONG`, by its `values` in each.

    It is their mean, but the median of seconds: one run may have been paused.
    """
    return statistics.median(values) if x == "seconds" else statistics.fmean(values)


def power_of(symbol: str, power: float) -> str:
    """What an exponential grows with: ``D`` or ``D^2``."""
    return symbol if power == 1 else f"{symbol}^{power:g}"


def form_of(symbol: str, power: float, exponential: bool) -> str:
    """The law of a growth: ``D^p`` or ``exp(p D^2)``."""
    return f"exp(p {power_of(symbol, power)})" if exponential else f"{symbol}^p"


def wrong_references(table: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each wrong name in the block `table`: plain values, without another mistake."""
    versions = (table.get("published") or {}).get("versions") or {}
    known: dict[str, list[str]] = {VERSIONS: [str(version) for version in versions]}
    for part, key in LABELS.items():
        known[part] = []
        for place, label in _at(table, f"{part}[].{key}"):
            if label in known[part]:
                first = f"table.{part}[{known[part].index(label)}]"
                yield f"table.{place} is '{label}', as that of {first} is; each needs its own."
            known[part].append(label)
    for path, part in NAMES.items():
        for place, name in _at(table, path):
            if name not in known[part]:
                hint = nearest(name, known[part]) or "."
                has = listed(known[part])
                yield f"table.{place} names '{name}', which is not among table.{part}{hint} Allowed: {has}."
    for number, row in enumerate(table.get("rows") or ()):
        if "suffix" in row and not row.get("exact"):
            yield f"table.rows[{number}].suffix is read in rows with exact alone; this row has none."
    for number, pair in enumerate(table.get("comparisons") or ()):
        rows = [str(row) for row in pair["rows"]]
        if len(set(rows)) != 2:
            yield f"table.comparisons[{number}].rows must be two rows, '{', '.join(rows)}' was given."
    for number, growth in enumerate(table.get("growths") or ()):
        if growth.get("along") is not None and growth["x"] not in ALONG:
            hint = nearest(str(growth["x"]), ALONG) or "."
            allowed = f"must be one of {', '.join(ALONG)} along a run"
            yield f"table.growths[{number}].x {allowed}, '{growth['x']}' was given{hint}"
    yield from _fitted_twice(table)


def _fitted_twice(table: Mapping[str, Any]) -> Iterator[str]:
    """Fits over columns that cannot be told apart: a row, a form and a metric are the place of one."""
    samplers = [row["row"] for row in table.get("rows") or () if row.get("role", "sampler") == "sampler"]
    seen: dict[tuple[str, str, str], int] = {}
    for number, growth in enumerate(table.get("growths") or ()):
        if growth.get("along") is not None:
            continue
        form = form_of(growth["symbol"], growth.get("power", 1.0), growth.get("exponential", False))
        for row in map(str, growth.get("rows") or samplers):
            fit = row, form, str(growth["metric"])
            if fit in seen:
                first = f"table.growths[{seen[fit]}]"
                yield (
                    f"table.growths[{number}] fits {fit[2]} of '{row}' as {form}, as {first} does; each fit "
                    "of a row needs a form or metric of its own."
                )
            seen[fit] = number


def _at(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Every name at `path` below `node`, as text, with its own place."""
    part, _, rest = path.partition(".")
    key, each = part.rstrip("[]{}"), node.get(part.rstrip("[]{}"))
    if each is None:
        return
    if part.endswith("[]"):
        found = [(f"{key}[{place}]", value) for place, value in enumerate(each)]
    elif part.endswith("{}"):
        found = [(key, name) for name in each]
    else:
        found = [(key, each)]
    for place, value in found:
        if rest:
            yield from ((f"{place}.{inside}", name) for inside, name in _at(value, rest))
        else:
            yield place, str(value)
