"""Copies the tables behind a dashboard and saves its workspace, and the report of a paper."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import wandb

from runner.dashboards.papers import chapters
from runner.execution.errors import UserError

if TYPE_CHECKING:
    from runner.dashboards.shown import Shown
    from runner.loggers.wandb import WandbLogger

EXTRA = (
    "Workspaces and reports need the package wandb-workspaces: pip install -e '.[dashboards]'; "
    "runs are copied without it."
)


def online(logger: WandbLogger, what: str) -> None:
    """Refuses a dashboard where runs do not go to a server.

    Raises:
        UserError: with the mode.
    """
    if logger.mode != "online":
        raise UserError(f"{what} is made on the server, so that mode must be online, it is {logger.mode}.")


def has_client() -> bool:
    """Whether the client for workspaces and reports is installed."""
    from importlib.util import find_spec

    return find_spec("wandb_workspaces") is not None


def show_workspace(logger: WandbLogger, shown: Shown) -> str:
    """Copies the tables of what is shown and saves its workspace; a sentence that says where it is.

    Raises:
        UserError: if the client is not installed, or the logger is not online.
    """
    if not has_client():
        raise UserError(EXTRA)
    online(logger, "A workspace")
    from runner.dashboards.band_chart import add_band_chart
    from runner.dashboards.sections import sections
    from runner.dashboards.workspace import save_workspace

    with TemporaryDirectory() as place:
        _write_tables(shown, Path(place))
        run_id = logger.tables(f"{shown.name}, dashboard", shown.title, shown.group, Path(place))
    figures = [path.stem for path in sorted(shown.tables.glob("*.png"))]
    api = wandb.Api()
    entity, project = logger.home(api)
    chart = add_band_chart(api, entity)
    url, saved = save_workspace(shown, entity, project, sections(shown, chart, figures), run_id)
    return f"W&B workspace{'' if saved else ' (as it was)'}: {url}"


def show_report(logger: WandbLogger, paper: str, root: Path) -> str:
    """Saves the report of a paper from its rendered tables; a sentence that says where it is.

    Raises:
        UserError: if the client is not installed, the logger is not online, or no table has been rendered.
    """
    if not has_client():
        raise UserError(EXTRA)
    online(logger, "A report")
    from runner.dashboards.paper_report import save_report

    found = chapters(paper, root)
    if not found:
        raise UserError(
            f"No table of {paper} has been rendered under {root}/tables; python -m runner.table renders one."
        )
    api = wandb.Api()
    url, saved = save_report(api, paper, *logger.home(api), found)
    return f"W&B report{'' if saved else ' (as it was)'}: {url}"


def _write_tables(shown: Shown, folder: Path) -> None:
    """Writes the tables that have lines."""
    from runner.dashboards.tables import curves, result_table, rungs

    frames = {"results": result_table(shown), "curves": curves(shown), "rungs": rungs(shown)}
    for name, frame in frames.items():
        if len(frame):
            frame.to_csv(folder / f"{name}.csv", index=False)
