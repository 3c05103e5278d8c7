"""The reference pages of targets, metrics and tasks, made from conf/ and the docstrings behind it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

from docs.generator.docstrings import cell, docstring, located, markdown, module_note
from docs.generator.sections import SETTINGS, described, introduction, names, page, prose, section
from docs.generator.yaml_files import Key, all_keys, content, header

CAPABILITIES = {
    "probabilities": "exact probabilities",
    "sample": "exact draws",
    "responsibilities": "modes",
    "noisy_log_prob": "minibatch estimates",
}
"""The member that shows a capability of `targets.target`, and its name on the page."""

SCALES = ("smoke", "quick", "paper")


def targets(conf: Path) -> str:
    """The page of targets."""
    rows, sections = [], []
    for name in names(conf, "target"):
        thing, text = described(conf, "target", name)
        summary = cell(header(conf / "target" / f"{name}.yaml") or text.summary)
        rows.append(f"| [`{name}`](#{name}) | {summary} | {_capabilities(thing)} |")
        keys, arguments = all_keys(conf, "target", name), text.sections.get("Args", {})
        sections.append(section(name, "target", thing, prose(text), keys, arguments))
    head = "| name | what it is | offers |\n| :-- | :-- | :-- |"
    return page("Targets", introduction("targets"), head, rows, sections)


def _capabilities(thing: Any) -> str:
    offering = thing if inspect.isclass(thing) else get_type_hints(thing).get("return", thing)
    return ", ".join(text for member, text in CAPABILITIES.items() if hasattr(offering, member))


def metrics(conf: Path) -> str:
    """The page of metrics."""
    rows, sections = [], []
    standard = content(conf / "metric" / "standard.yaml").get("_optional_", [])
    for name in names(conf, "metric"):
        entry = content(conf / "metric" / f"{name}.yaml").get(name)
        if not isinstance(entry, dict):
            continue
        thing = located(entry["_target_"])
        text = docstring(thing)
        better = {"min": "smaller", "max": "larger"}.get(getattr(thing, "direction", None) or "", "-")
        unit = cell(getattr(thing, "unit", "") or "-")
        measured = "yes" if name in standard else ""
        rows.append(f"| [`{name}`](#{name}) | {cell(text.summary)} | {unit} | {better} | {measured} |")
        note = module_note(thing)
        paragraphs = [*prose(text), markdown(note, SETTINGS) if note != text.body else ""]
        keys, arguments = _keys_of_metric(conf, name), text.sections.get("Args", {})
        sections.append(section(name, f"metric.{name}", thing, paragraphs, keys, arguments))
    head = "| name | what it measures | unit | better | standard |\n| :-- | :-- | :-- | :-- | :-- |"
    return page("Metrics", introduction("metrics"), head, rows, sections)


def _keys_of_metric(conf: Path, name: str) -> list[Key]:
    return [
        Key(key.path.removeprefix(f"{name}."), key.default, key.comment)
        for key in all_keys(conf, "metric", name)
        if key.path.startswith(f"{name}.")
    ]


def tasks(conf: Path) -> str:
    """The page of tasks and scales."""
    rows, sections = [], []
    for name in names(conf, "task"):
        path = conf / "task" / f"{name}.yaml"
        summary = header(path)
        rows.append(f"| [`{name}`](#{name}) | {cell(summary)} |")
        target = content(path).get("_target_")
        thing = located(target) if target else None
        text = docstring(thing) if thing else None
        paragraphs = [markdown(summary, SETTINGS), *(prose(text) if text else [])]
        arguments = text.sections.get("Args", {}) if text else {}
        sections.append(section(name, "task", thing, paragraphs, all_keys(conf, "task", name), arguments))
    head = "| name | what it does |\n| :-- | :-- |"
    return page("Tasks", f"{introduction('tasks')}\n\n{_scales(conf)}", head, rows, sections)


def _scales(conf: Path) -> str:
    """The budgets of the scales as a table."""
    values = {name: content(conf / "scale" / f"{name}.yaml") for name in SCALES}
    lines = ["## Scales", "", "`scale=smoke|quick|paper` sets the budget of a run:", ""]
    lines += ["| key | smoke | quick | paper |", "| :-- | --: | --: | --: |"]
    for field in (field for field in values["smoke"] if field != "name"):
        numbers = " | ".join(f"{values[name][field]:,}" for name in SCALES)
        lines.append(f"| `scale.{field}` | {numbers} |")
    return "\n".join(lines)
