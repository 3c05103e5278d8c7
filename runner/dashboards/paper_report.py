"""The report of a paper, its rendered tables, figures and readings: found by its title, updated in place."""

from __future__ import annotations

import json
from typing import Any

import wandb
import wandb_workspaces.reports.v2 as wr

from runner.dashboards.papers import Chapter, report_title
from runner.dashboards.views import view_content


def save_report(
    api: wandb.Api, paper: str, entity: str, project: str, found: list[Chapter]
) -> tuple[str, bool]:
    """Saves the report of a paper, unless it is there and says the same.

    Returns:
        Where it is, and whether anything was saved.
    """
    report = wr.Report(
        project=project,
        entity=entity,
        title=report_title(paper, found),
        description="Rendered from the results on disk by python -m runner.wandb_sync --report.",
        blocks=[wr.TableOfContents(), *(block for each in found for block in _blocks(each, entity, project))],
        width="fluid",
    )
    there = next(
        (each for each in api.reports(f"{entity}/{project}") if each.display_name == report.title), None
    )
    if there is not None:
        report.id = there.id
        if view_content(json.dumps(there.spec)) == view_content(_spec(report)):
            return str(report.url), False
    report.save()
    return str(report.url), True


def _spec(report: Any) -> str:
    spec: str = report._to_model().spec.model_dump_json(by_alias=True, exclude_none=True)
    return spec


def _blocks(chapter: Chapter, entity: str, project: str) -> list[Any]:
    title, _, text = chapter.text.partition("\n")
    blocks = [wr.H1(title.lstrip("# ")), wr.P(chapter.group), wr.MarkdownBlock(text.strip())]
    if chapter.figures:
        runs = wr.Runset(
            entity=entity, project=project, name=chapter.group, filters=f"Metric('Group') = '{chapter.group}'"
        )
        pictures = wr.MediaBrowser(
            media_keys=list(chapter.figures), num_columns=1, layout=wr.Layout(w=24, h=14)
        )
        blocks.append(wr.PanelGrid(runsets=[runs], panels=[pictures], hide_run_sets=True))
    if chapter.reading:
        blocks += [wr.H2("Reading"), wr.MarkdownBlock(chapter.reading)]
    return blocks
