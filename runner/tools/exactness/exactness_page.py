"""The table of `make exactness`."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.tools.exactness.distances import LIMIT, Distance
from runner.tools.exactness.not_enumerable import NOT_ENUMERABLE

CSV_COLUMNS = (
    *("sampler", "space", "claimed", "error", "lowest_tv", "highest_tv"),
    *("checked", "found", "left_out"),
)
WIDEST = 160
"""Columns that the table takes where the output is not a terminal."""


def unproved(distances: Sequence[Distance]) -> list[str]:
    """The samplers that claim to be exact and have no proof: not checked on any space, nor not enumerable."""
    known = set(NOT_ENUMERABLE.values())
    claiming = {d.sampler for d in distances if d.claimed and d.left_out not in known}
    return sorted(claiming - {d.sampler for d in distances if d.checked})


def verdict(distance: Distance) -> str:
    """``exact``, ``inexact`` with its bias, ``CLAIM FAILS`` or ``not checked``."""
    if not distance.checked:
        return "not checked"
    if distance.fails:
        return "CLAIM FAILS"
    if distance.claimed:
        return "exact"
    if distance.bias is None:
        return "inexact"
    low, high = distance.bias
    return f"inexact †, TV {low:.3f}" + ("" if high - low < 5e-4 else f" to {high:.3f}")


def show_distances(distances: Sequence[Distance], console: Console) -> None:
    """Prints a row per sampler and space, and what was left out."""
    if not console.is_terminal:
        console = Console(file=console.file, width=WIDEST, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("sampler", "space", "matrices", "max |pi P - pi|", "claims", "found"):
        table.add_column(title, justify="right" if title in ("matrices", "max |pi P - pi|") else "left")
    for sampler, group in groupby((d for d in distances if d.checked), key=lambda d: d.sampler):
        table.add_section()
        for d in group:
            found = verdict(d)
            colour = {"exact": "green", "CLAIM FAILS": "bold red"}.get(found, "yellow")
            claims = "exact" if d.claimed else "nothing"
            name, sampler = sampler, ""
            table.add_row(Text(name), d.space, str(d.checked), f"{d.error:.1e}", claims, Text(found, colour))
    console.print(table)
    reasons: dict[str, list[str]] = {}
    for d in (d for d in distances if not d.checked):
        reasons.setdefault(f"Not checked on {d.space} ({d.left_out})", []).append(d.sampler)
    for reason, samplers in reasons.items():
        console.print(Text(f"{reason}: {'; '.join(samplers)}.", style="yellow"))
    for line in exactness_summary(distances):
        console.print(line)


def exactness_summary(distances: Sequence[Distance]) -> list[str]:
    """The table in a sentence or two."""
    checked = [d for d in distances if d.checked and d.claimed]
    failing = sorted({d.sampler for d in checked if d.fails})
    holding = sorted({d.sampler for d in checked} - set(failing))
    lines = [
        f"{len(holding)} of {len(holding) + len(failing)} samplers that claim to be exact are, to {LIMIT:g}; "
        f"{sum(d.checked for d in distances)} transition matrices in all. "
        "† total variation of a sampler's own stationary distribution to the target, lowest and highest."
    ]
    if failing:
        lines.append(f"The claim fails: {', '.join(failing)}.")
    if names := ", ".join(unproved(distances)):
        lines.append(
            f"Claimed but not checked on any space: {names}; a kernel needs a proposal or log_transition."
        )
    return lines


def exactness_csv(distances: Sequence[Distance]) -> str:
    """One row per sampler and space, full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for d in distances:
        bias = d.bias or ("", "")
        writer.writerow((d.sampler, d.space, d.claimed, d.error, *bias, d.checked, verdict(d), d.left_out))
    return text.getvalue()
