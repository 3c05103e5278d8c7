"""The result pages: for each paper the tables, figures and readings of outputs/record/, as recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.generator.sections import introduction
from runner.execution.errors import nearest
from runner.report.recorded.measured_by import measured_by
from runner.verdicts.readings.texts import reading_text, unfounded

PAPERS = {
    "pt": ("pt-dlp", "PT-DLP: parallel tempering with discrete Langevin proposals"),
    "edlp": ("edlp", "EDLP: entropic discrete Langevin proposals"),
    "stmh": ("stmh", "STMH: simulated tempering Metropolis-Hastings"),
    "reld": ("reld", "ReLD: replica exchange Langevin diffusion"),
    "field": ("field", "The field: samplers on the targets that the literature compares them on"),
    "rbm": ("models", "Restricted Boltzmann machines"),
}
"""Prefix of a record's folder: the page and its title."""

BENCH = "bench"
"""Prefix of the folders of benches, and their page."""

READING = re.compile(r"\]\(\.\./([\w-]+?)/(?:reading|table)\.md\)")


@dataclass(frozen=True)
class Page:
    """A page to be written: its address in the site, its text, and the pictures that it shows."""

    address: str
    text: str
    pictures: dict[str, Path]


def pages(record: Path) -> list[Page]:
    """All result pages, the overview first."""
    folders = sorted((path for path in record.iterdir() if (path / "table.md").exists()), key=_order)
    by_page: dict[str, list[Path]] = {}
    for folder in folders:
        by_page.setdefault(_page_of(folder.name), []).append(folder)
    made = [_paper(name, title, by_page.get(name, [])) for name, title in PAPERS.values()]
    bench = [_bench(folders) for folders in [sorted(record.glob("bench_*"))] if folders]
    robustness = [_robustness(folder) for folder in record.glob("robustness")]
    verdicts = [_verdicts(folder) for folder in record.glob("verdicts")]
    return [_overview(by_page, verdicts), *made, *bench, *robustness, *verdicts]


def _page_of(folder: str) -> str:
    """The page that shows a record.

    Raises:
        ValueError: if there is none for records with this prefix.
    """
    kind = folder.split("_")[0]
    if kind != BENCH and kind not in PAPERS:
        raise ValueError(
            f"outputs/record/{folder}: no result page shows records named {kind}_...; PAPERS in"
            f" docs/generator/result_pages.py has {', '.join(PAPERS)}"
        )
    return BENCH if kind == BENCH else PAPERS[kind][0]


def _order(folder: Path) -> tuple[bool, int, str, bool]:
    """Tables before figures, by number, and the default scale before the others."""
    experiment, scale = folder.name.rsplit("_", 1)
    number = re.search(r"\d+", experiment)
    return "figure" in experiment, int(number[0]) if number else 0, experiment, scale != "quick"


def _title(folder: Path) -> str:
    first = (folder / "table.md").read_text().splitlines()[0]
    return first.lstrip("# ").strip()


def _scale(folder: Path) -> str:
    """The scale of a record, and its part where it has not the whole table: ``paper, emnist-kmnist``."""
    return folder.name.rsplit("_", 1)[-1].replace("-", ", ", 1)


def _command(folder: Path) -> str:
    """The command that measures a recorded table."""
    experiment, scale = folder.name.rsplit("_", 1)
    overrides = json.loads((folder / "manifest.json").read_text()).get("overrides")
    return measured_by(experiment, scale, overrides or ())


def _overview(by_page: dict[str, list[Path]], verdicts: Sequence[Page]) -> Page:
    lines = ["# Results", "", introduction("results"), ""]
    for page in verdicts:
        summary = page.text.partition("## By table\n")[2].partition("\n## ")[0].strip()
        lines += ["## Verdicts on the published numbers, by table", "", summary, ""]
        lines += ["[The rule, every number and the order of the rows](verdicts.md).", ""]
    for name, title in PAPERS.values():
        lines += [f"## {title}", "", "| table | scale | command |", "| :-- | :-- | :-- |"]
        for folder in by_page.get(name, []):
            lines.append(
                f"| [{_title(folder)}]({name}.md#{folder.name}) | {_scale(folder)} | `{_command(folder)}` |"
            )
        lines.append("")
    return Page("results/index.md", "\n".join(lines), {})


def _paper(name: str, title: str, folders: list[Path]) -> Page:
    lines, pictures = [f"# {title}", ""], {}
    for folder in folders:
        text, shown = _record(folder)
        lines.append(text)
        pictures.update(shown)
    return Page(f"results/{name}.md", "\n".join(lines), pictures)


def _record(folder: Path) -> tuple[str, dict[str, Path]]:
    """One recorded table: where it is from, how it reads, its figures and its numbers."""
    title, caption, first, others, notes = _parts((folder / "table.md").read_text())
    pictures = {f"results/{folder.name}/{path.name}": path for path in sorted(folder.glob("*.png"))}
    experiment = folder.name.rsplit("_", 1)[0]
    lines = [
        f"## {title} ({_scale(folder)}) {{ #{folder.name} }}",
        "",
        _provenance(folder, experiment),
        "",
        caption,
        "",
    ]
    if reading := _reading(folder):
        lines += ["#### Reading", "", _without_title(reading), ""]
    for address in sorted(pictures, key=lambda one: (not one.endswith("/figure.png"), one)):
        lines += [
            f"![{title}: {Path(address).stem}]({address.removeprefix('results/')}){{ loading=lazy }}",
            "",
        ]
    lines += ["#### Numbers", "", first, ""]
    if others:
        lines += ['??? note "The other tables of this experiment"', "", *_indented(others), ""]
    if notes:
        lines += ['??? note "Notes and comparisons"', "", *_indented(notes), ""]
    return "\n".join(lines), pictures


def _parts(text: str) -> tuple[str, str, str, str, str]:
    """Title, caption, first table, other tables and notes of a ``table.md``."""
    lines = text.strip().splitlines()
    title = lines[0].lstrip("# ").strip()
    blocks = [block.strip() for block in "\n".join(lines[1:]).strip().split("\n\n")]
    tables = [i for i, block in enumerate(blocks) if block.startswith("|")]
    if not tables:
        return title, "\n\n".join(blocks), "", "", ""
    opening = tables[0] - 1 if tables[0] and blocks[tables[0] - 1].startswith("**") else tables[0]
    first = "\n\n".join(blocks[opening : tables[0] + 1])
    others = "\n\n".join(blocks[tables[0] + 1 : tables[-1] + 1])
    return title, "\n\n".join(blocks[:opening]), first, others, "\n\n".join(blocks[tables[-1] + 1 :])


def _provenance(folder: Path, experiment: str) -> str:
    manifest = json.loads((folder / "manifest.json").read_text())
    device = manifest.get("device")
    device = device[0] if isinstance(device, list) and device else device
    where = f" on {device['name']}" if isinstance(device, dict) and device.get("name") else ""
    seeds = manifest.get("seeds") or []
    drawn = f", {len(seeds)} seeds" if isinstance(seeds, list) and len(seeds) > 1 else ""
    changed = any(isinstance(one, dict) and one.get("dirty") for one in manifest.get("git") or [])
    drawn += ", from a working tree with uncommitted changes" if changed else ""
    files = f"Files: `outputs/record/{folder.name}/`."
    shape = f"[Rows, columns and metrics](../reference/experiments.md#{experiment})."
    return f"Measured by `{_command(folder)}`{where}{drawn}. {files} {shape}"


def _reading(folder: Path) -> str:
    """The reading of a record; empty where there is none.

    Raises:
        ValueError: if it has a number that the record does not hold, or a link to a record that is not there.
    """
    reading = reading_text(folder)
    if reading and (missing := unfounded(folder)):
        raise ValueError(f"{folder.name}/reading.md: not in the record: {', '.join(missing)}")
    for name in READING.findall(reading):
        if not (folder.parent / name).is_dir():
            near = nearest(name, (other.name for other in folder.parent.iterdir()))
            raise ValueError(f"{folder.name}/reading.md links to {name}, which is not a record{near or '.'}")
    return reading


def _without_title(text: str) -> str:
    """A reading as the body of a section: without its title, its links turned to this site."""
    lines = text.strip().splitlines()
    body = "\n".join(lines[1:] if lines and lines[0].startswith("#") else lines).strip()
    body = re.sub(r"^(#+) ", r"####\1 ", body, flags=re.MULTILINE)
    return READING.sub(lambda found: f"]({_page_of(found.group(1))}.md#{found.group(1)})", body)


def _indented(text: str) -> list[str]:
    return [f"    {line}" if line else "" for line in text.splitlines()]


def _verdicts(folder: Path) -> Page:
    """A verdict on every published number, as `make verdicts` wrote it."""
    return Page("results/verdicts.md", (folder / "verdicts.md").read_text(), {})


def _robustness(folder: Path) -> Page:
    """What was broken on purpose, and what was lost, doubled, silent or ended in a traceback."""
    text = f"{introduction('robustness')}\n\n{(folder / 'measured.md').read_text().strip()}"
    return Page("results/robustness.md", f"# What is broken on purpose\n\n{text}\n", {})


def _bench(folders: Sequence[Path]) -> Page:
    """What `make bench` measured, machine by machine."""
    parts, pictures = ["# Bench\n\nMeasured by `make bench`."], {}
    for folder in folders:
        reading = _reading(folder)
        title = reading.partition("\n")[0].lstrip("# ") or folder.name
        own = {f"results/{folder.name}/{path.name}": path for path in sorted(folder.glob("*.png"))}
        shown = [
            f"![Bench: {path.stem}]({folder.name}/{path.name}){{ loading=lazy }}" for path in own.values()
        ]
        text = (folder / "bench.md").read_text().strip()
        parts += [f"## {title} {{ #{folder.name} }}", _without_title(reading), *shown, text]
        pictures |= own
    return Page("results/bench.md", "\n\n".join(parts) + "\n", pictures)
