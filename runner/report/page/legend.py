"""How to read a table: the marks beside its numbers, its footnotes, and the sentences that explain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runner.execution.errors import counted
from runner.report.analysis.table_entries import Entry, Summary
from runner.report.figure_shape import Role
from runner.report.table_shape import TableShape, first_named

INEXACT, NOT_SIGNIFICANT, BEATS_BEST, WITHIN_FLOOR, REDUCED = "†", "~", "‡", "°", "§"

AVERAGED = "averaged over seeds where these have problems of their own"
"""What is said of closed forms that differ between seeds, each of which may be an instance of the target."""

LETTERS = "abcdefghijklmnoprstuvwxyz"
"""Those that exist as superscripts in plain text: there is no superscript q."""


@dataclass
class Footnotes:
    """Letters for footnotes, in the order of their first use."""

    texts: list[str] = field(default_factory=list)

    def marks(self, text: str | None) -> tuple[str, ...]:
        """The letter of `text`, which stands in one line; nothing for None."""
        if text is None:
            return ()
        text = " ".join(text.split())
        if text not in self.texts:
            self.texts.append(text)
        return (mark(self.texts.index(text)),)


def mark(place: int) -> str:
    """The letter of the footnote at `place`; after z they are doubled."""
    times, letter = divmod(place, len(LETTERS))
    return LETTERS[letter] * (times + 1)


def legend(shape: TableShape, summary: Summary, seeds: int, reduction: str | None = None) -> list[str]:
    """The sentences that explain the numbers; only those that this table needs.

    Args:
        seeds: see `Results.seeds`.
        reduction: how the protocol is smaller than the published one.
    """
    entries = list(summary)
    ours = [entry for entry in entries if not shape.row(entry.row).exact]
    return [*([_averaged(seeds, ours)] if seeds else []), *explanations(shape, entries, reduction)]


def explanations(
    shape: TableShape, entries: Sequence[Entry], reduction: str | None = None, *, marked: bool = True
) -> list[str]:
    """The sentences of `legend` on published and exact numbers and on the marks of `entries`.

    Args:
        marked: whether samplers that are not exact have a mark in the table.
    """
    sentences = []
    if any(entry.published for entry in entries):
        named = ", ".join(
            f"{label} is {version.paper}, {version.table}"
            for label, version in (shape.published.versions.items() if shape.published else ())
        )
        sentences.append(f"Published: as printed ({named}), with the spread printed there.")
    closed = [entry for entry in entries if entry.closed_form]
    for of_draws, value in (
        (True, "the expected value of as many independent draws, in closed form"),
        (False, "the exact value"),
    ):
        found = [entry for entry in closed if of_draws is not bool(shape.row(entry.row).exact)]
        rows = " and ".join(dict.fromkeys(entry.row for entry in found))
        names = " and ".join(dict.fromkeys(shape.metric(entry.metric).name for entry in found))
        varies = any(entry.varies for entry in found)
        if found:
            sentences.append(
                f"{names} of {rows}: {value}, {AVERAGED if varies else 'not a mean over seeds'}."
            )
    if any(entry.best for entry in entries):
        sentences.append(
            "Bold: the best mean among the samplers that claim to be exact, and any equal to it."
        )
    if any(entry.not_significant for entry in entries):
        sentences.append(
            f"{NOT_SIGNIFICANT}: no significant difference from the best (paired t-test over seeds; p of at "
            "least 0.05, Holm-adjusted over all pairs that have a test and a sampler that claims to be "
            "exact, since the same numbers chose the best)."
        )
        if shape.comparisons:
            sentences.append(
                "The sentences on two rows are corrected over the table's own comparisons alone, so that a "
                f"pair may be significantly different there and have {NOT_SIGNIFICANT} here."
            )
    if any(entry.most > 1 for entry in entries) and (untested := _untested(shape, entries)):
        sentences.append(
            f"No test against the best, and so no {NOT_SIGNIFICANT} (fewer than two seeds that both have, or "
            f"differences that do not vary): {untested}."
        )
    if any(entry.beats_best for entry in entries):
        sentences.append(f"{BEATS_BEST}: a row that does not compete has a better mean than the best.")
    if any(entry.within_floor for entry in entries):
        floors = dict.fromkeys(metric.floor for metric in shape.metrics if metric.floor is not None)
        sentences.append(
            f"{WITHIN_FLOOR}: not significantly worse than the floor, the row {' or '.join(floors)} "
            "(one-sided paired t-test over seeds, p of at least 0.05; no mark where there is no test); such "
            "numbers cannot be ranked, nor read as better than the floor."
        )
    inexact = [entry for entry in entries if entry.exact is False]
    if any(shape.row(entry.row).role is not Role.draws for entry in inexact):
        told = f"{INEXACT}: not exact; the sampler" if marked else "The sampler is not exact: it"
        sentences.append(f"{told} does not leave its target invariant.")
    if reduction is not None:
        sentences.append(f"{REDUCED}: {reduction.strip().rstrip('.')}.")
    others = [row.row for row in shape.rows if row.role is not Role.sampler]
    if others:
        sentences.append(f"For reference, not competing: {'; '.join(others)}.")
    if any(entry.seeds is not None and not entry.without_value for entry in entries):
        sentences.append("n is given where fewer seeds have a value.")
    if any(entry.without_value for entry in entries):
        sentences.append(
            "n=a of b: of b runs a have a finite value, such as those that reached a target; the others have "
            "none or failed. The mean is of these a alone, and is compared with no other."
        )
    return sentences


def _untested(shape: TableShape, entries: Sequence[Entry]) -> str:
    """The rows that are not tested, and of which numbers where that is not all of them; of many the first."""
    ranked = {(entry.metric, entry.column) for entry in entries if entry.best}
    metrics, columns = ({place[part] for place in ranked} for part in (0, 1))
    places: dict[str, list[str]] = {}
    for entry in entries:
        if entry.untested:
            parts = [shape.metric(entry.metric).name] * (len(metrics) > 1)
            parts += [entry.column] * (len(columns) > 1)
            places.setdefault(entry.row, []).append(", ".join(parts))
    named = [f"{row} ({'; '.join(own)})" if len(own) < len(ranked) else row for row, own in places.items()]
    return first_named(named)


def notes_on_runs(threads: Sequence[int], sources: Mapping[str, int]) -> list[str]:
    """Notes on what the identity of runs does not tell: several CPU threads, several versions of the code.

    Args:
        threads: the numbers of threads that runs were computed on.
        sources: how many runs each version of the source code has computed, by its name
            (`runner.integrity.source.named`); the digest alone tells two versions apart.
    """
    notes = []
    if any(count > 1 for count in threads):
        counts = " and ".join(map(str, threads))
        notes.append(
            f"Computed on {counts} CPU threads. Sums on several threads are rounded differently, so that the "
            "last bits, and with them the paths of chains, can differ from those of the same runs on one "
            "thread."
        )
    first: dict[str, str] = {}
    runs: Counter[str] = Counter()
    for name, number in sources.items():
        runs[first.setdefault(name.split(" ", 1)[0], name)] += number
    if len(runs) > 1:
        found = runs.most_common()
        named = [f"{source}: {counted(number, 'run')}" for source, number in found[:3]]
        versions = "; ".join([*named, *[f"{len(found) - 3} more"] * (len(found) > 3)])
        notes.append(
            f"The runs are of {len(found)} versions of the source code ({versions}). CHANGELOG.md says under "
            "Numbers where the results of versions differ."
        )
    return notes


def _averaged(seeds: int, entries: Sequence[Entry]) -> str:
    """What a number of ours is, of so many seeds; columns whose jobs all have fewer are named."""
    if seeds == 1:
        return "Ours: one seed, without an interval or a test."
    most: dict[str, int] = {}
    for entry in entries:
        most[entry.column] = max(entry.expected, most.get(entry.column, 0))
    fewer: dict[int, list[str]] = {}
    for column, number in most.items():
        if 0 < number < seeds:
            fewer.setdefault(number, []).append(f"'{column}'")
    others = "".join(f"; n = {number} in {', '.join(columns)}" for number, columns in fewer.items())
    return f"Ours: mean ± half the width of the 95 % t interval over n = {seeds} seeds{others}."
