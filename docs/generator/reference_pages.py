"""The reference pages of targets, metrics and tasks, made from conf/ and the docstrings behind it."""

from __future__ import annotations

from docs.generator.markdown_text import cell, markdown
from docs.generator.sections import DOCS, introduction, page, prose, section
from runner.catalogue.entries import entry_of
from runner.catalogue.yaml_files import Groups

SCALES = ("smoke", "quick", "paper")


def targets(conf: Groups) -> str:
    """The page of targets."""
    entries = [entry_of(conf, "target", name) for name in conf.names("target")]
    rows = [
        f"| [`{entry.name}`](#{entry.name}) | {cell(entry.summary)} | {', '.join(entry.offers)} |"
        for entry in entries
    ]
    sections = [section(entry, "target", prose(entry.docstring)) for entry in entries]
    head = "| name | what it is | offers |\n| :-- | :-- | :-- |"
    return page("Targets", introduction("targets"), head, rows, sections)


def metrics(conf: Groups) -> str:
    """The page of metrics."""
    rows, sections = [], []
    standard = conf.content("metric", "standard").get("_optional_", [])
    for name in conf.names("metric"):
        entry = entry_of(conf, "metric", name)
        if entry.source is None:
            continue
        known = entry.source.members()
        better = {"min": "smaller", "max": "larger"}.get(known.get("direction") or "", "-")
        unit = cell(known.get("unit") or "-")
        measured = "yes" if name in standard else ""
        rows.append(
            f"| [`{name}`](#{name}) | {cell(entry.docstring.summary)} | {unit} | {better} | {measured} |"
        )
        note = entry.source.module_note
        more = markdown(note, DOCS) if note != entry.docstring.body else ""
        sections.append(section(entry, f"metric.{name}", [*prose(entry.docstring), more]))
    head = "| name | what it measures | unit | better | standard |\n| :-- | :-- | :-- | :-- | :-- |"
    return page("Metrics", introduction("metrics"), head, rows, sections)


def tasks(conf: Groups) -> str:
    """The page of tasks and scales."""
    entries = [entry_of(conf, "task", name) for name in conf.names("task")]
    rows = [f"| [`{entry.name}`](#{entry.name}) | {cell(entry.summary)} |" for entry in entries]
    sections = [
        section(entry, "task", [markdown(entry.summary, DOCS), *prose(entry.docstring)]) for entry in entries
    ]
    head = "| name | what it does |\n| :-- | :-- |"
    return page("Tasks", f"{introduction('tasks')}\n\n{_scales(conf)}", head, rows, sections)


def _scales(conf: Groups) -> str:
    """The budgets of the scales as a table."""
    values = {name: conf.content("scale", name) for name in SCALES}
    lines = ["## Scales", "", "`scale=smoke|quick|paper` sets the budget of a run:", ""]
    lines += ["| key | smoke | quick | paper |", "| :-- | --: | --: | --: |"]
    for field in (field for field in values["smoke"] if field != "name"):
        numbers = " | ".join(f"{values[name][field]:,}" for name in SCALES)
        lines.append(f"| `scale.{field}` | {numbers} |")
    return "\n".join(lines)
