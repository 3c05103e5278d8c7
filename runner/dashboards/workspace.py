"""The workspace of an experiment or of a sweep: found by its name, and updated in place."""

from __future__ import annotations

import hashlib
from typing import Any

import wandb_workspaces.workspaces as ws
from wandb_workspaces import expr

from runner.dashboards.shown import Shown, within
from runner.dashboards.views import view_content

LONGEST = 100
"""Letters of a workspace's title."""

LEAST = 20
"""Letters at least that are left of it before what stands in brackets."""

BASE = "https://wandb.ai"
"""Stands before a workspace's address, of which the client reads the path and the name only."""


def save_workspace(
    shown: Shown, entity: str, project: str, sections: list[Any], table_run: str
) -> tuple[str, bool]:
    """Saves the workspace, unless it is there and shows the same.

    Args:
        table_run: the id of the run that holds the tables.

    Returns:
        Where it is, and whether anything was saved.
    """
    name = _internal_name(shown)
    made = ws.Workspace(
        entity=entity,
        project=project,
        name=_title(shown),
        sections=sections,
        settings=ws.WorkspaceSettings(max_runs=100),
        runset_settings=ws.RunsetSettings(
            filters=expr.And(_filter(shown, table_run)), groupby=[expr.Config(key) for key in shown.rows]
        ),
    )
    # The client has no other way to say under which name a new view is to be found again.
    made._internal_name = f"nw-{name}-v"
    there = _found(entity, project, name)
    if there is not None:
        made._internal_id = there._internal_id
        before, after = (
            view_content(each._to_model().spec.model_dump_json(by_alias=True, exclude_none=True))
            for each in (there, made)
        )
        if before == after and there.name == made.name:
            return str(made.url), False
    made.save()
    return str(made.url), True


def _filter(shown: Shown, table_run: str) -> Any:
    if shown.group is not None:
        return expr.Metric("Group") == shown.group
    return expr.Metric("ID").isin([*shown.run_ids, table_run])


def _internal_name(shown: Shown) -> str:
    """Eleven letters, as the client's own names have, the same for the same experiment or sweep."""
    return hashlib.sha256(f"rungwise {shown.name}".encode()).hexdigest()[:11]


def _title(shown: Shown) -> str:
    """The title without what the client takes for an emoji: signs of mathematics.

    Of a long one the end in brackets stays, which tells two scales of an experiment apart.
    """
    plain = "".join(each if each.isalnum() or each in " .,:;()[]-_/%'" else "-" for each in shown.title)
    if len(plain) <= LONGEST:
        return plain
    said, opened, end = plain.rpartition(" (")
    room = LONGEST - len(opened + end)
    return within(said, room) + opened + end if room > LEAST else within(plain, LONGEST)


def _found(entity: str, project: str, name: str) -> Any:
    try:
        return ws.Workspace.from_url(f"{BASE}/{entity}/{project}?nw={name}")
    except ValueError:
        return None
