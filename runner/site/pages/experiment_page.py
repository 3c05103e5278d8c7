"""The page of an experiment, and what the start page says of it."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.execution.errors import counted
from runner.report.figure_shape import Role
from runner.report.page.legend import BEATS_BEST, INEXACT, NOT_SIGNIFICANT, REDUCED, WITHIN_FLOOR
from runner.report.page.markdown import unit_text
from runner.report.table_shape import BETTER, Orientation, TableShape
from runner.site.content.experiment_data import ExperimentData
from runner.site.content.experiment_places import Place
from runner.site.content.pictures import thumbnail
from runner.site.index.run_entry import RunEntry
from runner.site.pages.best_sentence import best_sentence
from runner.site.pages.cell_facts import cell_facts
from runner.site.pages.making_command import making, rendering
from runner.site.pages.reading_links import linked
from runner.site.pages.rendering import html_of_markdown, render
from runner.site.pages.site_folder import SiteFolder
from runner.store.run_folder import STATUSES
from runner.verdicts.readings.texts import reading_text

PICTURES = (".png",)
FILES = (".csv", ".tex", ".md", ".png", ".pdf")
COMMIT = 10
"""Characters of a commit that are shown."""

SEVERAL, ONE = "mean and 95 % interval over seeds", "one run each, without an interval"
"""What charts show, where a number is of several seeds and where none is."""

MARKS = {
    INEXACT: "not exact: the sampler does not leave its target invariant",
    NOT_SIGNIFICANT: "no significant difference from the best",
    BEATS_BEST: "does not compete, and has a better mean than the best",
    WITHIN_FLOOR: "not significantly worse than the floor",
    REDUCED: "measured under a reduced protocol",
}
"""What the marks beside numbers mean, in short; the legend below a table says it in full."""


def write_experiment(
    data: ExperimentData,
    runs: Mapping[str, RunEntry],
    others: Sequence[Place],
    folder: SiteFolder,
    left: str,
    hydra: Sequence[str],
) -> dict[str, Any]:
    """Writes the page of an experiment and the files that it links to.

    Args:
        runs: what is known of the runs, by id.
        others: the same experiment at other scales.
        left: how long its runs will take, in words; empty where that is not known.
        hydra: overrides of Hydra itself, which say where else experiments are.

    Returns:
        What the start page says of it.
    """
    own = [runs[run_id] for ids in data.run_ids.values() for run_id in ids if run_id in runs]
    copied = _copied(data, folder)
    notes = MARKS | dict(data.page.footnotes if data.page else ())
    result = best_sentence(data)
    reading = reading_text(data.place.record)
    heading = data.page.title if data.page else data.shape.title
    counts = {status: data.counts[status] for status in STATUSES if data.counts[status]}
    page = render(
        "experiment.html",
        page="experiment", up="../", heading=heading, data=data, others=others, left=left, result=result,
        counts=counts,
        unit=unit_text, versions=data.shape.versions, notes=notes, better=BETTER, known=runs,
        facts=cell_facts(data), over=ONE if data.frame.empty or data.frame["n"].max() < 2 else SEVERAL,
        down="Setting" if data.shape.orientation is Orientation.columns_down else "Sampler",
        references=[row.row for row in data.shape.rows if row.role is not Role.sampler],
        legend=_legend(data),
        pictures=[
            {"href": f"../{name}", "said": said_of_picture(data.shape, Path(name).stem)}
            for name in copied
            if name.endswith(PICTURES)
        ],
        files=[{"name": name.rsplit("/", 1)[-1], "href": f"../{name}"} for name in copied],
        reading=html_of_markdown(linked(reading, data.place.record.parent)) if reading else None,
        command=making(data.place, data.kept, hydra),
        again=rendering(data.place, hydra) if data.outdated else "",
        manifest=json.dumps(data.manifest, indent=1, ensure_ascii=False) if data.manifest else "",
        origins=origins(own),
    )  # fmt: skip
    folder.write(f"experiments/{data.place.key}.html", page)
    commit, device = _origin(data, own)
    return {
        "experiment": data.place.experiment,
        "scale": data.place.scale,
        "href": f"experiments/{data.place.key}.html",
        "title": data.shape.title.partition(": ")[2],
        "heading": data.shape.title.partition(": ")[0],
        "counts": counts,
        "source": data.source,
        "result": result,
        "why": data.why,
        "commit": commit,
        "device": device,
        "left": left,
        **_thumbnail(data, folder),
    }


def said_of_picture(shape: TableShape, name: str) -> str:
    """What stands in place of the figure `name` where pictures are not seen: its panels and their metrics."""
    panels = []
    for panel in (panel for figure in shape.figures if figure.name == name for panel in figure.panels):
        metric = next((each.name for each in shape.metrics if each.metric == panel.metric), "")
        panels.append(", ".join(filter(None, (panel.title, metric))))
    shown = f": {'; '.join(dict.fromkeys(filter(None, panels)))}" if any(panels) else ""
    return f"Figure {name}{shown}. Its numbers are in the table below."


def origins(runs: Sequence[RunEntry]) -> list[str]:
    """Commits and devices of runs, with how many each has computed."""
    found: Counter[str] = Counter()
    for run in runs:
        if (about := run.about).get("git") and run.done:
            commit = str(about["git"].get("commit") or "no commit")[:COMMIT]
            changed = " with changes" if about["git"].get("dirty") else ""
            found[f"commit {commit}{changed}, {about.get('device') or 'an unknown device'}"] += 1
    return [f"{counted(number, 'run')}: {said}" for said, number in found.most_common()]


def _origin(data: ExperimentData, runs: Sequence[RunEntry]) -> tuple[str, str]:
    """The commit and the device that most runs have; else those of the record."""
    done = [run for run in runs if run.done]
    if done and data.source == "runs":
        commits = Counter(str((run.about.get("git") or {}).get("commit") or "") for run in done)
        devices = Counter(str(run.about.get("device") or "") for run in done)
        return commits.most_common(1)[0][0][:COMMIT], devices.most_common(1)[0][0]
    recorded = data.manifest
    commits_of = [str(each.get("commit") or "") for each in recorded.get("git") or []]
    devices_of = [str(each.get("name") or "") for each in recorded.get("device") or []]
    return next(iter(commits_of), "")[:COMMIT], next(iter(devices_of), "")


def _legend(data: ExperimentData) -> list[tuple[str, str]]:
    """The sentences of the legend, each with the mark that it explains."""
    if data.page is None:
        return []
    marks = "".join(MARKS)
    sentences = [
        each.strip() for whole in data.page.legend for each in re.split(rf"(?=(?<!\S)[{marks}]: )", whole)
    ]
    return [(each[0] if each[1:2] == ":" and each[0] in marks else "", each) for each in sentences if each]


def _copied(data: ExperimentData, folder: SiteFolder) -> list[str]:
    """The names of the rendered files in the report, which is whole without their own folder."""
    found = [
        path
        for path in sorted(data.folder.glob("*"))
        if path.suffix in FILES and path.stem != "reading" and path.is_file()
    ]
    names = []
    for path in found:
        name = f"files/{data.place.key}/{path.name}"
        target = folder.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        names.append(name)
    folder.keep_only(f"files/{data.place.key}", [path.name for path in found])
    return names


def _thumbnail(data: ExperimentData, folder: SiteFolder) -> dict[str, Any]:
    """A small picture of the first figure: its name and its height."""
    picture = next((path for path in sorted(data.folder.glob("*.png")) if path.stem == "figure"), None)
    picture = picture or next(iter(sorted(data.folder.glob("*.png"))), None)
    if picture is None or (small := thumbnail(picture)) is None:
        return {"thumbnail": "", "height": 0}
    name = f"thumbnails/{data.place.key}.png"
    folder.write(name, small.content)
    return {"thumbnail": name, "height": small.height}
