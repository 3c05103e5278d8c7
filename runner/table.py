"""Renders the table and figures of an experiment, or of any selection of runs, from the runs that are done.

``python -m runner.table pt_table1 [scale=quick output_root=DIR ...] [--record | --extend | --redraw]``
``python -m runner.table runs [target=mog sampler=dmala,acs ...] [--sort METRIC] [--all]``
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.config.output_root import check_there
from runner.execution.command_line import ExperimentParser, reporting
from runner.execution.errors import UserError, warn
from runner.execution.memory.garbage import collect_once_imported, imported
from runner.library.selected_runs import RUNS
from runner.report.experiment_shape import experiment_shape

RECORD = Path("outputs") / "record"
"""Of the current folder, a clone of the repository, also where runs are elsewhere: records are in git."""


def render(experiment: str, overrides: Sequence[str], *, keep: bool = False, extend: bool = False) -> Path:
    """Gathers the runs, prints the table and writes its files; `keep` also copies them to `RECORD`.

    A rendered table with numbers stays where no run is done.

    Args:
        extend: whether the runs are of seeds that the recorded table lacks; the table is then of these and of
            the recorded ones, and is kept.

    Returns:
        The folder of the table's files.

    Raises:
        UserError: for an unknown experiment, an override that does not fit, a folder of results that is not
            there, or a table that does not match its sweep.
    """
    shape = experiment_shape(experiment, overrides)

    from runner.dashboards.sweep_end import show_sweep
    from runner.report.analysis.table_entries import summarise
    from runner.report.budget import budget_sentence
    from runner.report.draw_figures import write_figures
    from runner.report.page.kept_overrides import write_overrides
    from runner.report.page.layout import lay_out
    from runner.report.page.table_files import has_numbers, write_table
    from runner.report.page.terminal import show_page
    from runner.report.panel_kinds import check_panels
    from runner.report.published import published_numbers
    from runner.report.runs.gathered import gather
    from runner.report.runs.unmeasured import unmeasured
    from runner.store.folder_digests import begin_changes, write_digests
    from runner.store.left_out import left_out_runs
    from runner.store.run_folder import LEFT_OUT
    from runner.store.run_store import Store, other_runs
    from runner.sweep.configured_logger import logger_of
    from runner.sweep.jobs import experiment_jobs

    check_panels(shape.figures)
    published = published_numbers(shape)
    jobs = experiment_jobs(experiment, list(overrides))
    root, scale = Path(jobs[0].config.output_root), str(jobs[0].config.scale.name)
    check_there(root)
    results = gather(experiment, shape, jobs, Store(root))
    of_all = list(overrides)
    if extend:
        from runner.report.recorded.extend import extended

        results, of_all = extended(
            shape,
            results,
            overrides,
            RECORD / f"{experiment}_{scale}",
            lambda lines: gather(experiment, shape, experiment_jobs(experiment, lines), Store(root)),
        )
        keep = True
    if keep:
        from runner.report.recorded.record import check_recordable

        check_recordable(experiment, scale, results, RECORD, overrides)
    for said in () if extend else unmeasured(experiment, shape, results):
        warn(said)
    shape = shape.restricted(results.columns, results.rows)
    summary = summarise(shape, results, published)
    page = lay_out(shape, summary, results, budget_sentence(results), _command(experiment, of_all))

    folder = root / "tables" / experiment / scale
    others = "" if results.done else other_runs(experiment, scale, root)
    if not results.done and has_numbers(folder):
        show_page(page)
        if others:
            print(others)
        print(f"The table in {folder} has numbers, and was left as it is: no run of this one is done.")
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    earlier = begin_changes(folder)
    files = [*write_table(folder, summary.records(shape), page), write_overrides(folder, of_all)]
    figures = write_figures(shape, results, folder)
    imported()  # a figure is a hundred thousand objects that are in use: the collector would find nothing
    write_digests(folder, [*files, *(path.name for path in figures)], earlier)
    logger = logger_of(jobs[0].config)
    logger.table(experiment, scale, folder)
    kept = None
    if keep:  # before anything is printed: whoever reads may close the pipe
        from runner.report.recorded.record import record

        rendered = [*(folder / name for name in files), *figures]
        kept = record(experiment, scale, shape, results, rendered, RECORD, overrides)
    show_page(page)
    left_out = left_out_runs(run.folder for run in results.runs if run.status in LEFT_OUT)
    for said in (left_out, others):
        print(said, end="\n" if said else "")
    print(f"Written to {folder}")
    for place in logger.places():
        print(place)
    show_sweep(jobs, (), overrides)
    if kept is not None:
        print(f"Recorded in {kept}")
    return folder


def _command(experiment: str, overrides: Sequence[str]) -> str:
    """What a reader of the table runs for the missing runs."""
    return shlex.join(["python", "-m", "runner", "-m", f"+experiment={experiment}", *overrides])


def redraw_record(experiment: str, overrides: Sequence[str]) -> None:
    """Renders a recorded table anew, as far as what it keeps suffices, and says which files.

    Raises:
        UserError: as of `render`, and where there is no such record, or it is damaged, contradicts itself or
            has what the experiment no longer has.
    """
    from runner.report.recorded.record import own_name, recorded_overrides
    from runner.report.recorded.redraw import checked_digests, redraw
    from runner.report.runs.gathered import gather
    from runner.store.run_store import Store
    from runner.sweep.jobs import experiment_jobs

    shape, jobs = experiment_shape(experiment, overrides), None
    if (name := own_name(overrides)) is None:
        jobs = experiment_jobs(experiment, list(overrides))
        name = str(jobs[0].config.scale.name)
    folder = RECORD / f"{experiment}_{name}"
    checked_digests(folder)
    chosen = recorded_overrides(folder, overrides)  # the record is of these runs alone
    if chosen or jobs is None:
        overrides = [*overrides, *chosen]
        shape, jobs = experiment_shape(experiment, overrides), experiment_jobs(experiment, list(overrides))
    results = gather(experiment, shape, jobs, Store(Path(jobs[0].config.output_root)))
    written = redraw(shape, results, folder, _command(experiment, overrides))
    names = ", ".join(path.name for path in written) or "nothing, all of it needs runs"
    print(f"Rendered anew in {folder}: {names}")


def render_runs(conditions: Sequence[str], *, sort: str | None = None, everything: bool = False) -> Path:
    """Prints and writes the table of the runs that fit `conditions`; ``output_root=DIR`` says where they are.

    Returns:
        The folder of the table's files.

    Raises:
        UserError: for a condition that cannot be read or that no run fits.
    """
    from runner.library.selected_runs import selected_runs
    from runner.report.selection_table import show_runs, write_runs
    from runner.store.left_out import left_out_runs

    chosen = selected_runs(conditions)
    grid, summary = show_runs(chosen.runs, chosen.title, sort=sort, everything=everything)
    folder = write_runs(chosen.runs, grid, summary, chosen.conditions, chosen.root, sort=sort)
    if said := left_out_runs(chosen.left_out()):
        print(said)
    print(f"Written to {folder}")
    return folder


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 0 also where runs are missing, 2 for a mistake in the command."""
    parser = ExperimentParser("runner.table", __doc__)
    parser.add_argument(
        "--record", action="store_true", help="of an experiment: also copy the table to outputs/record"
    )
    parser.add_argument(
        "--extend",
        action="store_true",
        help="of an experiment: add runs of new seeds, of all rows or some, to its table in outputs/record",
    )
    parser.add_argument(
        "--redraw", action="store_true", help="of an experiment: only render its table in outputs/record anew"
    )
    parser.add_argument(
        "--sort",
        metavar="METRIC",
        help="with runs: the first metric; within each group of comparable runs the best row first, "
        "and samplers that are not exact after the exact ones",
    )
    parser.add_argument("--all", action="store_true", help="with runs: all metrics, however wide the table")
    experiment, overrides, given = parser.experiment(arguments)
    if experiment == RUNS:
        if given.record or given.extend or given.redraw:
            raise UserError("--record, --extend and --redraw are for experiments, not for runs.")
        render_runs(overrides, sort=given.sort, everything=given.all)
        return 0
    if given.sort or given.all:
        raise UserError(f"--sort and --all are for runs, not for the experiment {experiment}.")
    if given.record + given.extend + given.redraw > 1:
        raise UserError(
            "--record copies a new table, --extend adds seeds to the recorded one, --redraw renders it anew: "
            "give one of them."
        )
    if given.redraw:
        redraw_record(experiment, overrides)
        return 0
    render(experiment, overrides, keep=given.record, extend=given.extend)
    return 0


if __name__ == "__main__":
    collect_once_imported()
    sys.exit(main())
