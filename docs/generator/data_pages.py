"""The pages of data sets and of experiments, made from conf/ alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.generator.docstrings import cell, markdown
from docs.generator.sections import SETTINGS, introduction, names, page
from docs.generator.yaml_files import content, header

IMAGES = """## Images

`target.dataset=NAME` of the targets `rbm` and `resnet_ebm`. *Images* are the numbers of training,
validation and test images of each known form of the set.

| name | what it is | pixels | binarisation | images |
| :-- | :-- | :-- | :-- | :-- |"""

TABLES = """## Tables

`target.tabular=NAME` of the target `binary_bnn`. *Rows* are the numbers of training and test rows.

| name | what it is | rows |
| :-- | :-- | :-- |"""


def data_sets(conf: Path) -> str:
    """The page of image sets and tables."""
    lines = ["# Data sets", "", introduction("data-sets"), "", IMAGES]
    for name in names(conf, "dataset"):
        entry = content(conf / "dataset" / f"{name}.yaml")
        forms = _forms(entry, "train", "validation", "test")
        what = cell(header(conf / "dataset" / f"{name}.yaml"))
        pixels = "×".join(map(str, entry["shape"]))  # noqa: RUF001 - the sign of multiplication
        lines.append(f"| `{name}` | {what} | {pixels} | `{entry['binarisation']}` | {forms} |")
    lines += ["", TABLES]
    for name in names(conf, "tabular"):
        forms = _forms(content(conf / "tabular" / f"{name}.yaml"), "train", "test")
        lines.append(f"| `{name}` | {cell(header(conf / 'tabular' / f'{name}.yaml'))} | {forms} |")
    return "\n".join([*lines, ""])


def _forms(entry: Mapping[str, Any], *parts: str) -> str:
    """The known forms of a set: how many rows each part has, and the note."""
    forms = []
    for form in entry.get("variants", []):
        note = f" ({form['note']})" if form.get("note") else ""
        forms.append(" / ".join(f"{form[part]:,}" for part in parts) + note)
    return cell("; ".join(forms))


def experiments(conf: Path) -> str:
    """The page of experiments: the tables and figures that one command computes."""
    rows, sections = [], []
    for name in names(conf, "experiment"):
        entry = content(conf / "experiment" / f"{name}.yaml")
        title, target = cell(entry["table"]["title"]), name.replace("_", "-")
        rows.append(f"| [`{name}`](#{name}) | {title} | `make {target}` |")
        lines = [f"## {name} {{ #{name} }}", "", f"**{title}**", ""]
        lines += [markdown(str(entry["table"].get("caption", "")).strip(), SETTINGS), ""]
        for sentence in _shape(entry):
            lines += [sentence, ""]
        lines += [
            "```bash",
            f"make {target}",
            f"python -m runner -m +experiment={name} scale=smoke",
            "```",
            "",
        ]
        sections.append("\n".join(lines))
    head = "| name | table | command |\n| :-- | :-- | :-- |"
    return page("Experiments", introduction("experiments"), head, rows, sections)


def _shape(entry: Mapping[str, Any]) -> list[str]:
    """Columns, rows and metrics of a table, a sentence each."""
    sweep, sentences = entry.get("sweep", {}), []
    grid = [f"`{key}` over {_listed(values)}" for key, values in (sweep.get("grid") or {}).items()]
    labels = dict.fromkeys(cell(str(row["row"])) for row in sweep.get("rows", []))
    shown = dict.fromkeys(
        cell(str(one.get("name", one["metric"]))) for one in entry["table"].get("metrics", [])
    )
    for title, parts in (("Columns", grid), ("Rows", labels), ("Measured", shown)):
        if parts:
            sentences.append(f"{title}: {'; '.join(parts)}.")
    return sentences


def _listed(values: Any) -> str:
    several = values if isinstance(values, list) else [values]
    return ", ".join("none" if value is None else f"`{value}`" for value in several)
