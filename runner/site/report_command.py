"""``python -m runner.report``: makes the HTML report, or serves it and keeps it up to date."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from runner.config.output_root import results_of
from runner.execution.command_line import OneSentenceParser, called, reporting, with_config_dir
from runner.execution.errors import UserError, counted
from runner.execution.reached import duration

PORT = 8700
"""Where ``--watch`` serves the report unless another port is named."""

MOST_PORT = 65535


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = OneSentenceParser(
        prog=called("runner.report"),
        description="Writes pages of all results for a browser: every experiment, every run, any runs "
        "compared. Only what has changed on disk since the last time is made again.",
        epilog="Examples: python -m runner.report; python -m runner.report output_root=DIR --watch. "
        "The last line says where the report is and how long it took. It needs the extra 'report' "
        "(pip install -e '.[report]').",
    )
    parser.add_argument(
        "words", nargs="*", metavar="output_root=DIR", help="where results are (default: outputs)"
    )
    parser.add_argument(
        "--to", metavar="DIR", help="the folder of the report (default: report in output_root)"
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve the report on this computer only, and update it while runs are computed, until Ctrl-C",
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help=f"port of --watch; 0 takes a free port (default: {PORT})"
    )
    parser.add_argument(
        "--config-dir",
        metavar="DIR",
        help="a folder with your own configurations, whose experiments are shown too",
    )
    given = parser.parse_intermixed_args(arguments)
    root = results_of(given.words, "The report is made of")
    if not 0 <= given.port <= MOST_PORT:
        raise UserError(f"--port must be a whole number from 0 to {MOST_PORT}, {given.port} was given.")
    hydra = with_config_dir([], given.config_dir)

    from runner.site.pages.assets import require_libraries

    require_libraries()

    from runner.site.build import Report

    start = time.perf_counter()
    report = Report(root, Path(given.to) if given.to else root / "report", hydra)
    if given.watch:
        from runner.site.watch import watch

        return watch(report, given.port)
    built = report.build()
    seconds = duration(time.perf_counter() - start)
    made = f"{counted(built.runs, 'run')}, {counted(built.pages, 'page')} made in {seconds}"
    print(f"{made}: {report.site.path / 'index.html'}")
    return 0
