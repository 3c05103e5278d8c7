"""``rungwise list``: the samplers, targets, metrics, ... that there are, a line each."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from runner.catalogue.entries import entry_of
from runner.catalogue.terminal import console, without_code_marks
from runner.catalogue.yaml_files import Groups, known_groups
from runner.execution.command_line import OneSentenceParser, reporting
from runner.execution.errors import unknown

Row = tuple[str, ...]

BETTER = {"min": "smaller", "max": "larger"}


def samplers(groups: Groups) -> Iterator[Row]:
    yield "name", "what it does", "spaces", "exact", "cost of a step", "source"
    for name in groups.names("sampler"):
        entry = entry_of(groups, "sampler", name)
        facts = entry.facts
        exact = "yes" if entry.exact else "no"
        yield (
            name,
            first_sentence(entry.summary),
            facts.get("Spaces", ""),
            exact,
            facts.get("Cost", ""),
            facts.get("Source", ""),
        )


def targets(groups: Groups) -> Iterator[Row]:
    yield "name", "what it is", "space", "offers"
    for name in groups.names("target"):
        entry = entry_of(groups, "target", name)
        yield name, first_sentence(entry.summary), entry.facts.get("Spaces", ""), ", ".join(entry.offers)


def metrics(groups: Groups) -> Iterator[Row]:
    yield "name", "what it measures", "unit", "better"
    for name in groups.names("metric"):
        entry = entry_of(groups, "metric", name)
        known = {} if entry.source is None else entry.source.members()
        summary = entry.docstring.summary or entry.summary
        yield (
            name,
            first_sentence(summary),
            known.get("unit") or "",
            BETTER.get(known.get("direction") or "", ""),
        )


def tempering(groups: Groups) -> Iterator[Row]:
    yield "name", "what it does", "dmala becomes"
    for name in groups.names("tempering"):
        prefix = groups.content("tempering", name).get("prefix", "")
        yield name, first_sentence(groups.header("tempering", name)), f"{prefix}dmala"


def tasks(groups: Groups) -> Iterator[Row]:
    yield "name", "what it does"
    yield from ((name, first_sentence(groups.header("task", name))) for name in groups.names("task"))


def experiments(groups: Groups) -> Iterator[Row]:
    yield "name", "table", "command"
    ours = groups.ours.names("experiment")
    for name in groups.names("experiment"):
        table = groups.content("experiment", name).get("table") or {}
        title = str(table.get("title") or groups.header("experiment", name))
        words = ["rungwise", "run", "--config-dir", str(groups.folders[-1]), "-m", f"+experiment={name}"]
        yield name, title, f"make {name.replace('_', '-')}" if name in ours else shlex.join(words)


def datasets(groups: Groups) -> Iterator[Row]:
    yield "name", "what it is", "shape", "key"
    groups = groups.ours
    for group, key in (("dataset", "target.dataset"), ("tabular", "target.tabular")):
        for name in groups.names(group):
            shape = groups.content(group, name).get("shape") or []
            yield (
                name,
                first_sentence(groups.header(group, name)),
                " x ".join(map(str, shape)),
                f"{key}={name}",
            )


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Groups], Iterator[Row]]]] = {
    "samplers": (("sampler",), samplers),
    "targets": (("target",), targets),
    "metrics": (("metric",), metrics),
    "tempering": (("tempering",), tempering),
    "tasks": (("task",), tasks),
    "experiments": (("experiment",), experiments),
    "datasets": (("dataset", "tabular"), datasets),
}
"""The groups of each kind, and its table: the head first."""


@reporting
def main(argv: Sequence[str]) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = OneSentenceParser(prog="rungwise list", description="Lists all names, with a line for each.")
    parser.add_argument("kind", nargs="?", metavar="KIND", help=f"{', '.join(KINDS)}; without it, all names")
    parser.add_argument("--config-dir", metavar="DIR", help="a folder with your own configurations")
    given: argparse.Namespace = parser.parse_args(argv)
    groups = known_groups(given.config_dir)
    if given.kind is None:
        for kind, (own, _) in KINDS.items():
            known = groups.ours if kind == "datasets" else groups
            names = [name for group in own for name in known.names(group)]
            print(f"{kind} ({len(names)}): {', '.join(names)}")
        return 0
    if given.kind not in KINDS:
        raise unknown("kind", given.kind, KINDS)
    head, *rows = ([without_code_marks(text) for text in row] for row in KINDS[given.kind][1](groups))
    show_rows(head, rows)
    return 0


def first_sentence(text: str) -> str:
    """The first sentence of `text`."""
    first, *more = re.split(r"\.\s+(?=[A-Z])", text, maxsplit=1)
    return f"{first}." if more else first


def show_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; what is not a terminal gets each row on a line of its own."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for title in head:
        table.add_column(title, no_wrap=title in ("name", "key"), overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)
