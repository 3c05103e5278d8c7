"""The pages of data sets and of experiments, made from conf/ alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.generator.markdown_text import cell, cited, markdown
from docs.generator.sections import DOCS, introduction, page
from runner.catalogue.experiment_outline import outline
from runner.catalogue.yaml_files import Groups

IMAGES = """## Images

`target.dataset=NAME` of the targets `rbm` and `resnet_ebm`. *Images* are the numbers of training,
validation and test images of each known form of the set.

| name | what it is | pixels | binarisation | images |
| :-- | :-- | :-- | :-- | :-- |"""

TABLES = """## Tables

`target.tabular=NAME` of the target `binary_bnn`. *Rows* are the numbers of training and test rows.

| name | what it is | rows |
| :-- | :-- | :-- |"""


def data_sets(conf: Groups) -> str:
    """The page of image sets and tables."""
    lines = ["# Data sets", "", introduction("data-sets"), "", IMAGES]
    for name in conf.names("dataset"):
        entry = conf.content("dataset", name)
        forms = _forms(entry, "train", "validation", "test")
        what = cited(cell(conf.header("dataset", name)), DOCS)
        pixels = "×".join(map(str, entry["shape"]))  # noqa: RUF001 - the sign of multiplication
        lines.append(f"| `{name}` | {what} | {pixels} | `{entry['binarisation']}` | {forms} |")
    lines += ["", TABLES]
    for name in conf.names("tabular"):
        forms = _forms(conf.content("tabular", name), "train", "test")
        what = cited(cell(conf.header("tabular", name)), DOCS)
        lines.append(f"| `{name}` | {what} | {forms} |")
    return "\n".join([*lines, ""])


def _forms(entry: Mapping[str, Any], *parts: str) -> str:
    """The known forms of a set: how many rows each part has, and the note."""
    forms = []
    for form in entry.get("variants", []):
        note = f" ({form['note']})" if form.get("note") else ""
        forms.append(" / ".join(f"{form[part]:,}" for part in parts) + note)
    return cell("; ".join(forms))


def experiments(conf: Groups) -> str:
    """The page of experiments: the tables and figures that one command computes."""
    rows, sections = [], []
    for name in conf.names("experiment"):
        entry = conf.content("experiment", name)
        title, target = cell(entry["table"]["title"]), name.replace("_", "-")
        rows.append(f"| [`{name}`](#{name}) | {title} | `make {target}` |")
        lines = [f"## {name} {{ #{name} }}", "", f"**{title}**", ""]
        lines += [markdown(str(entry["table"].get("caption", "")).strip(), DOCS), ""]
        for sentence in outline(entry):
            lines += [cell(sentence), ""]
        lines += [
            "```bash",
            f"make {target}",
            f"rungwise run -m +experiment={name} scale=smoke",
            "```",
            "",
        ]
        sections.append("\n".join(lines))
    head = "| name | table | command |\n| :-- | :-- | :-- |"
    return page("Experiments", introduction("experiments"), head, rows, sections)
