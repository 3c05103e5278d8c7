"""``rungwise show sampler=acs``: what it is, where it comes from, its keys and their defaults."""

from __future__ import annotations

from collections.abc import Sequence

from runner.catalogue.entries import Entry, entry_of
from runner.catalogue.experiment_outline import outline
from runner.catalogue.listing import show_rows
from runner.catalogue.terminal import console, without_code_marks
from runner.catalogue.yaml_files import Groups, known_groups
from runner.execution.command_line import OneSentenceParser, reporting
from runner.execution.errors import UserError, unknown

PREFIXES = {"dataset": "target.dataset", "tabular": "target.tabular"}
"""The key that chooses a name of a group, where it is not the group's."""


def paragraphs(entry: Entry, group: str) -> list[str]:
    """What the YAML and the docstrings say of `entry`."""
    text, said = entry.docstring, [entry.summary]
    said += [part for part in (text.summary, text.body) if part and part not in entry.summary]
    if entry.kernel is not None:
        inner = entry.kernel.docstring
        said += [f"Inside it, {entry.kernel.name}: {inner.summary}", inner.body]
    facts = dict(entry.facts)
    if group == "sampler":
        facts = {"Exact": "yes" if entry.exact else "no", **facts}
    if entry.source is not None:
        facts["Class"] = f"{entry.source.module}.{entry.source.name}"
    return [*filter(None, said), "\n".join(f"{name}: {each}" for name, each in facts.items())]


def show(groups: Groups, group: str, name: str) -> None:
    """Prints what `name` is.

    Raises:
        UserError: if there is no such name.
    """
    out, key = console(), PREFIXES.get(group, group)
    out.print(f"{'+' if group == 'experiment' else ''}{key}={name}", style="bold")
    if group == "experiment":
        content = groups.content(group, name)
        table = content.get("table") or {}
        said = [table.get("title"), table.get("caption"), *outline(content)]
        for part in filter(None, said):
            out.print(f"\n{without_code_marks(str(part))}")
        return
    entry = entry_of(groups, group, name)
    for part in filter(None, paragraphs(entry, group)):
        out.print(f"\n{without_code_marks(part)}")
    if entry.keys and group not in PREFIXES:
        prefix = f"{group}.{name}" if group == "metric" else group
        out.print()
        rows = [
            (f"{prefix}.{key.path}", key.default, without_code_marks(entry.meaning(key)))
            for key in entry.keys
        ]
        show_rows(("key", "default", "meaning"), rows)


@reporting
def main(argv: Sequence[str]) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = OneSentenceParser(
        prog="rungwise show", description="Explains a name, its keys and their defaults."
    )
    parser.add_argument("names", nargs="+", metavar="GROUP=NAME", help="such as sampler=acs or metric=kl")
    parser.add_argument("--config-dir", metavar="DIR", help="a folder with your own configurations")
    given = parser.parse_intermixed_args(argv)
    groups = known_groups(given.config_dir)
    for place, word in enumerate(given.names):
        group, sign, name = word.lstrip("+").partition("=")
        group = group.rsplit(".", 1)[-1]
        if not sign:
            near = [f"{each}={group}" for each in groups.groups() if group in groups.names(each)]
            hint = f"; did you mean '{near[0]}'?" if near else "."
            raise UserError(f"What is shown has the form GROUP=NAME, '{word}' was given{hint}")
        if group not in (known := groups.groups()):
            raise unknown("group", group, known)
        if place:
            console().print()
        show(groups, group, name)
    return 0
