"""What a dashboard shows: an experiment, or a selection of runs, as a table with its runs in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from runner.execution.errors import counted
from runner.report.analysis.table_entries import Summary, summarise
from runner.report.experiment_shape import experiment_shape
from runner.report.published import PublishedNumbers, published_numbers
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.selection.grid import NONE, grid_of
from runner.report.selection.stored_runs import StoredRun
from runner.report.table_shape import TableShape
from runner.store.run_store import Store
from runner.store.short_hash import short_hash
from runner.sweep.jobs import Job

LONGEST = 60
"""Letters of a title that say which runs."""


def within(text: str, most: int) -> str:
    """`text`, at most so long, its end left out after a word; within one where the first is too long."""
    end = " ..."
    said = shorten(text, most, placeholder=end)
    return said if said != end.strip() else f"{text[: most - len(end)]}{end}"


@dataclass(frozen=True)
class Shown:
    """An experiment, or a selection of runs.

    Attributes:
        name: the experiment with its scale, or a name of the selection; the same for the same runs.
        title: for people.
        group: the group of the runs in W&B; None where they are known by their ids.
        rows: keys of the configuration that tell one row of the table from another, and columns likewise.
        tables: the folder of its rendered table; it need not be there.
    """

    name: str
    title: str
    group: str | None
    rows: tuple[str, ...]
    shape: TableShape
    summary: Summary
    results: Results
    tables: Path

    @property
    def run_ids(self) -> list[str]:
        """Of the runs that are done."""
        return [run.run_id for run in self.results.runs if run.summary is not None]


def shown_experiment(experiment: str, jobs: Sequence[Job], hydra: Sequence[str]) -> Shown:
    """An experiment.

    Args:
        hydra: overrides of Hydra itself, which say where else experiments lie.

    Raises:
        UserError: for a table that does not match its sweep.
    """
    config = jobs[0].config
    shape = experiment_shape(experiment, hydra)
    root, scale = Path(config.output_root), str(config.scale.name)
    results = gather(experiment, shape, jobs, Store(root))
    shape = shape.restricted(results.columns, results.rows)
    name = f"{experiment}, {scale}"
    summary = summarise(shape, results, published_numbers(shape))
    tables = root / "tables" / experiment / scale
    title, group = f"{shape.title} ({scale})", config.logger.get("group") or name
    return Shown(name, title, group, ("column", "row"), shape, summary, results, tables)


def shown_runs(runs: Sequence[StoredRun], root: Path | str) -> Shown:
    """A selection of runs.

    Raises:
        UserError: if there are none.
    """
    names = {
        key: dict.fromkeys(str(run.settings.get(key, NONE.format(key))) for run in runs)
        for key in ("target", "sampler")
    }
    grid = grid_of(runs, "The runs of this sweep")
    varied = [key for key in grid.keys if key not in names]
    about = f"{', '.join(names['target'])}: {', '.join(names['sampler'])}"
    about += f" over {', '.join(varied)}" if varied else ""
    ids = sorted(run.folder.run_id for run in runs)
    name = f"sweep {short_hash({'runs': ids})[:8]}"
    title = f"{within(about, LONGEST)} ({counted(len(runs), 'run')}, {name})"
    rows = tuple(f"{key}.name" if key in names else key for key in dict.fromkeys([*grid.keys, "sampler"]))
    summary = summarise(grid.shape, grid.results, PublishedNumbers({}))
    tables = Path(root) / "tables" / "runs" / name
    return Shown(name, title, None, rows, grid.shape, summary, grid.results, tables)
