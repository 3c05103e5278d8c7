"""The table of `make exactness`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.files.csv_text import csv_text
from runner.tools.exactness.distances import LIMIT, Distance
from runner.tools.exactness.not_enumerable import NOT_ENUMERABLE
from runner.tools.exactness.step_agreement import LEVEL

CSV_COLUMNS = (
    *("sampler", "space", "claimed", "error", "p_value", "lowest_tv", "highest_tv"),
    *("checked", "found", "left_out", "crash"),
)
WIDEST = 160
"""Columns that the table takes where the output is not a terminal."""


def unproved(distances: Sequence[Distance]) -> list[str]:
    """The samplers that claim to be exact and have no proof: not checked on any space, nor not enumerable."""
    known = set(NOT_ENUMERABLE.values())
    claiming = {d.sampler for d in distances if d.claimed and not d.crash and d.left_out not in known}
    return sorted(claiming - {d.sampler for d in distances if d.checked})


def exactness_verdict(distance: Distance) -> str:
    """``exact``, ``inexact`` with its bias, ``not checked``, or in capitals what is wrong."""
    if distance.unnormalised:
        return "NOT EXACT: rows of P do not sum to 1"
    if distance.moves:
        return "NOT EXACT: moves the target"
    if distance.strays:
        return "NOT EXACT: step is another"
    if distance.crash:
        return "CRASHED"
    if not distance.checked:
        return "not checked"
    if distance.claimed:
        return "exact"
    if distance.bias is None:
        return "inexact"
    low, high = distance.bias
    return f"inexact †, TV {low:.3f}" + ("" if high - low < 5e-4 else f" to {high:.3f}")


def show_distances(distances: Sequence[Distance], console: Console, draws: int) -> None:
    """Prints a row per sampler and space, and what was left out; `draws` steps from each state were drawn."""
    if not console.is_terminal:
        console = Console(file=console.file, width=WIDEST, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("sampler", "space", "matrices", "max |pi P - pi|", "p of steps", "claims", "found"):
        number = title in ("matrices", "max |pi P - pi|", "p of steps")
        table.add_column(title, justify="right" if number else "left")
    for sampler, group in groupby((d for d in distances if d.checked or d.crash), key=lambda d: d.sampler):
        table.add_section()
        for d in group:
            found = exactness_verdict(d)
            colour = "bold red" if d.fails or d.crash else "green" if d.claimed else "yellow"
            claims = "exact" if d.claimed else "nothing"
            name, sampler = sampler, ""
            numbers = (f"{d.error:.1e}", f"{d.p_value:.2g}") if d.checked else ("", "")
            table.add_row(Text(name), d.space, str(d.checked), *numbers, claims, Text(found, colour))
    if table.row_count:
        console.print(table)
    reasons: dict[str, list[str]] = {}
    for d in distances:
        if d.crash:
            reasons.setdefault(f"Crashed on {d.space} ({d.crash})", []).append(d.sampler)
        elif not d.checked:
            reasons.setdefault(f"Not checked on {d.space} ({d.left_out})", []).append(d.sampler)
    for reason, samplers in reasons.items():
        style = "bold red" if reason.startswith("Crashed") else "yellow"
        console.print(Text(f"{reason}: {'; '.join(samplers)}.", style=style))
    for line in exactness_summary(distances, draws):
        console.print(line)


BIAS = "† total variation of a sampler's own stationary distribution to the target, lowest and highest."


def exactness_summary(distances: Sequence[Distance], draws: int) -> list[str]:
    """The table in a few sentences."""
    checked = [d for d in distances if d.checked]
    claiming = {d.sampler for d in checked if d.claimed}
    failing = {d.sampler for d in checked if d.claimed and d.fails}
    improper = {d.sampler for d in checked if d.unnormalised}
    lines = [
        "Nothing was checked: no transition matrix could be built on any space, for the reasons above."
        if not checked
        else f"{len(claiming - failing)} of {len(claiming)} samplers that claim to be exact are: "
        f"pi P = pi to {LIMIT:g}, and {draws:,} steps from each state follow the rows of P (p >= {LEVEL:g}); "
        f"{sum(d.checked for d in distances)} transition matrices in all. "
        f"If all samplers are honest, chance fails one of these {len(checked)} lines with a probability of "
        f"at most {len(checked) * LEVEL:.1g}."
    ]
    if any("†" in exactness_verdict(d) for d in checked):
        lines[0] += f" {BIAS}"
    for said, names in {
        "The rows of P do not sum to 1; log_transition must give the probability of staying too": improper,
        "The claim fails": failing - improper,
        "The step draws from another distribution than log_prob or log_transition says": {
            d.sampler for d in checked if d.strays and not d.unnormalised
        },
        "Crashed": {d.sampler for d in distances if d.crash},
    }.items():
        if names:
            lines.append(f"{said}: {', '.join(sorted(names))}.")
    if nowhere := ", ".join(unproved(distances)):
        lines.append(f"Claimed but not checked on any space: {nowhere}, for the reasons above.")
    return lines


def exactness_csv(distances: Sequence[Distance]) -> str:
    """One row per sampler and space, full precision."""
    rows: list[tuple[object, ...]] = [CSV_COLUMNS]
    for d in distances:
        bias = d.bias or ("", "")
        measured = (d.claimed, d.error, d.p_value, *bias, d.checked)
        rows.append((d.sampler, d.space, *measured, exactness_verdict(d), d.left_out, d.crash))
    return csv_text(rows)
