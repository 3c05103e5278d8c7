"""The start page: every experiment with its status and a line of result, and the runs of other commands."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.execution.errors import counted
from runner.execution.reached import duration
from runner.site.index.run_entry import RunEntry
from runner.site.pages.making_command import judging
from runner.site.pages.rendering import counts_in_order, render
from runner.site.pages.site_folder import SiteFolder
from runner.store.run_store import Store
from runner.store.short_hash import short_hash
from runner.store.under_way import grouped_by_process

NAMED = re.compile(r"(\S+) (?:Tables?|Figures?|Theorems?|Propositions?)\b")
OTHERS = "Others"
MOST_SHOWN = 20
"""Runs without numbers that are listed."""

LOST = ("damaged", "unreadable", "failed", "abandoned")
"""Statuses of runs that have no numbers, and get none by themselves."""


def write_start(
    root: str,
    cards: Sequence[dict[str, Any]],
    runs: Mapping[str, RunEntry],
    in_tables: set[str],
    site: SiteFolder,
) -> None:
    """Writes the start page.

    Args:
        root: the output root, as it was given.
        cards: what is said of each experiment, see `runner.site.pages.experiment_page.write_experiment`.
        runs: every run by id.
        in_tables: the ids of those that belong to an experiment.
    """
    papers: dict[str, list[dict[str, Any]]] = {}
    for card in cards:
        papers.setdefault(paper_in_title(card["heading"]), []).append(card | {"title": _title(card)})
    others = papers.pop(OTHERS, [])
    if others:
        papers[OTHERS] = others
    lost = [run for run in runs.values() if run.status in LOST]
    page = render(
        "start.html",
        page="start", up="", root=root, total=len(runs), papers=papers,
        counts=counts_in_order(run.status for run in runs.values()),
        running=[
            card | {"title": _joined(card["heading"], card["title"])}
            for card in cards
            if card["counts"].get("running")
        ],
        works=works_of(Path(root), [run for run in runs.values() if run.status == "running"]),
        sweeps=sweeps_of([run for run in runs.values() if run.run_id not in in_tables]),
        lost=LOST, damaged=lost[:MOST_SHOWN], more_damaged=max(0, len(lost) - MOST_SHOWN),
        verdicts=verdict_counts(Path(root) / "record" / "verdicts" / "summary.csv"),
        verdicts_command=judging(Path(root)),
    )  # fmt: skip
    site.write("index.html", page)


def works_of(root: Path, running: Sequence[RunEntry]) -> list[dict[str, Any]]:
    """What each process at work has noted of the runs that it computes, at most `MOST_SHOWN`."""
    store, named = Store(root), {run.run_id: run.name for run in running}
    found = []
    for group in grouped_by_process(store.run(run.run_id) for run in running)[:MOST_SHOWN]:
        first, *others = (run.run_id for run in group.runs)
        more = f" and {counted(len(others), 'other run')}" if others else ""
        process = group.process
        found.append({"title": f"{named[first]}{more}", "said": str(process), "work": process.work})
    return found


def verdict_counts(path: Path) -> list[list[str]]:
    """The lines that `python -m runner.verdicts` counted, the head first; none without that file."""
    try:
        return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError, csv.Error):
        return []


def paper_in_title(heading: str) -> str:
    """The paper in the title of a table: what comes before its Table or Figure."""
    found = NAMED.match(heading)
    return found[1] if found else OTHERS


def _title(card: Mapping[str, Any]) -> str:
    heading, paper = str(card["heading"]), paper_in_title(str(card["heading"]))
    named = heading.removeprefix(f"{paper} ") if paper != OTHERS else heading
    return _joined(named, card["title"])


def _joined(heading: str, title: str) -> str:
    """A heading with the title behind it, which may be empty."""
    return ": ".join(filter(None, (heading, title)))


def command_name(command: str) -> str:
    """A short name of a command, for links."""
    return short_hash({"command": command})[:8]


def sweeps_of(runs: Sequence[RunEntry]) -> list[dict[str, Any]]:
    """The commands that started `runs`, the last one first."""
    by_command: dict[str, list[RunEntry]] = {}
    for run in runs:
        by_command.setdefault(str(run.about.get("command")), []).append(run)
    found = [
        {
            "command": command.removeprefix("__main__.py").strip() if command != "None" else "not known",
            "started": max(str(run.about.get("started") or "") for run in own),
            "counts": counts_in_order(run.status for run in own),
            "number": len(own),
            "href": f"compare.html#sweep={command_name(command)}",
        }
        for command, own in by_command.items()
    ]
    return sorted(found, key=lambda each: str(each["started"]), reverse=True)


def time_left(counts: Counter[str], done: Sequence[RunEntry], processes: int) -> str:
    """``about 3 min 20 s left``: as many runs as are not done, each as long as those that are.

    Empty where none is running, or none is done.

    Args:
        processes: how many compute runs now.
    """
    seconds = [run.costs["wall_seconds"] for run in done if run.costs.get("wall_seconds") is not None]
    if not counts["running"] or not seconds:
        return ""
    left = sum(number for status, number in counts.items() if status != "done")
    return f"about {duration(left * sum(seconds) / len(seconds) / max(1, processes))} left"
