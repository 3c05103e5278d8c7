"""`python -m runner.bench`: speed and memory of the project, measured in one run.

Ratios compare two computations measured one after the other; seconds depend on the computer.
Writes ``bench.md``, ``bench.csv`` and ``scaling.png`` to ``<output_root>/bench``. ``--only steps starts``
measures these parts alone.
"""

from __future__ import annotations

import csv
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from runner.config.output_root import names_root, output_root
from runner.execution.command_line import OneSentenceParser, called, reporting
from runner.execution.memory.freed_memory import keep_freed_memory
from runner.store.folder_digests import write_digests
from runner.tools.bench.annealing import annealing_rows
from runner.tools.bench.baselines.jax_peer import jax_rows
from runner.tools.bench.child_cost import run_megabytes
from runner.tools.bench.cuda.cuda_steps import cuda_rows
from runner.tools.bench.deep_ebm import deep_memory_rows, deep_rows
from runner.tools.bench.memory.experiment_memory import experiment_memory_rows
from runner.tools.bench.optimisation.cut_step import cut_rows
from runner.tools.bench.rbm_learning import learning_rows
from runner.tools.bench.real_spaces import real_rows
from runner.tools.bench.report.report_cost import report_rows
from runner.tools.bench.start_up import start_up_rows
from runner.tools.bench.steps.compiled_seeds import compiled_seed_rows
from runner.tools.bench.steps.compiled_steps import compiled_rows
from runner.tools.bench.steps.entropic_step import entropic_rows
from runner.tools.bench.steps.gpu_by_proxy import proxy_rows
from runner.tools.bench.steps.ising_step import ising_rows
from runner.tools.bench.steps.ladder_step import ladder_rows
from runner.tools.bench.steps.metric_updates import metric_rows
from runner.tools.bench.steps.network_step import network_memory_rows, network_rows
from runner.tools.bench.steps.rbm_step import rbm_rows
from runner.tools.bench.tempering_round import scaling_rows, tempering_rows
from runner.tools.bench.timing import BenchRows
from runner.tools.bench.wandb_copies.wandb_cost import wandb_rows


@dataclass(frozen=True)
class Settings:
    """What a part of the bench is told.

    Attributes:
        folder: for its figures.
        short: whether it is only to show that it works.
        server: module that serves as W&B, or None.
    """

    folder: Path
    short: bool
    server: str | None

    @property
    def rounds(self) -> int:
        """How often steps are timed."""
        return 8 if self.short else 40


def _memory(bench: BenchRows, settings: Settings) -> None:
    few, many = (1_000, 4_000) if settings.short else (10_000, 100_000)
    growth = run_megabytes(many) - run_megabytes(few)
    bench.limited(f"memory of {many} steps less that of {few}", f"{growth:.1f} MB", growth, 20, " MB")
    network_memory_rows(bench)
    deep_memory_rows(bench)


def _experiments(bench: BenchRows, settings: Settings) -> None:
    experiment_memory_rows(bench, ["pt_table1"] if settings.short else ())


def _report(bench: BenchRows, settings: Settings) -> None:
    report_rows(bench, 200 if settings.short else 5_000)
    if settings.server is not None:
        wandb_rows(bench, settings.server, short=settings.short)


def _steps(bench: BenchRows, settings: Settings) -> None:
    keep_freed_memory()  # as every run of a sweep does
    for chains in (100, 1000):
        tempering_rows(bench, chains)
    rounds = settings.rounds
    metric_rows(bench, rounds)
    compiled_seed_rows(bench, rounds)
    rbm_rows(bench, rounds)
    jax_rows(bench, rounds)
    compiled_rows(bench, rounds)
    proxy_rows(bench)
    entropic_rows(bench, rounds)
    network_rows(bench, rounds)
    ising_rows(bench, rounds)
    cut_rows(bench, rounds)
    cuda_rows(bench, short=settings.short)
    scaling_rows(bench, settings.folder, short=settings.short)


def _ladders(bench: BenchRows, settings: Settings) -> None:
    keep_freed_memory()
    ladder_rows(bench, settings.rounds)


def _trainings(bench: BenchRows, settings: Settings) -> None:
    annealing_rows(bench, short=settings.short)
    learning_rows(bench, rounds=2 if settings.short else 5)
    real_rows(bench, short=settings.short)
    deep_rows(bench, rounds=1 if settings.short else 2)


def _starts(bench: BenchRows, settings: Settings) -> None:
    start_up_rows(bench, runs=3 if settings.short else 10)


# Memory first: a child's peak includes that of its parent, which grows.
PARTS: dict[str, Callable[[BenchRows, Settings], None]] = {
    "memory": _memory,
    "experiments": _experiments,
    "report": _report,
    "trainings": _trainings,
    "steps": _steps,
    "ladders": _ladders,
    "starts": _starts,
}
"""The bench by the names that `--only` takes; the memory of each of the experiments takes an hour."""

_ONLY = f"the parts to measure, of {', '.join(PARTS)} (default: all; experiments takes an hour)"


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the bench; the status is 0 also where a wanted speed is not met: speed depends on the computer."""
    given = sys.argv[1:] if arguments is None else arguments
    usage = "%(prog)s [output_root=DIR] [--short] [--wandb-server MODULE] [--only PART [PART ...]]"
    parser = OneSentenceParser(prog=called("runner.bench"), description=__doc__, usage=usage)
    parser.add_argument("--short", action="store_true", help="a smaller bench, to see that it works")
    parser.add_argument(
        "--wandb-server", metavar="MODULE", help="module that serves as W&B; without it W&B is left out"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=_ONLY)
    words = [word for word in given if names_root(word)]
    options = parser.parse_args([word for word in given if word not in words])
    folder = output_root(words) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    machine = f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads"
    about = f"Bench on {machine}, torch {torch.__version__}"
    console.print(about)
    bench = BenchRows(console.print)
    settings = Settings(folder, options.short, options.wandb_server)
    for name in PARTS:
        if name in options.only:
            PARTS[name](bench, settings)
    header = ("measured", "value", "wanted", "met")
    with (folder / "bench.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *bench.found])
    rows = "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * 4, *bench.found))
    (folder / "bench.md").write_text(f"{about}.\n\n{rows}\n")
    table = Table(*header)
    for row in bench.found:
        table.add_row(*row)
    console.print(table)
    written = ("bench.md", "bench.csv", *(["scaling.png"] if "steps" in options.only else []))
    write_digests(folder, written)
    console.print(f"Written to {folder}: {', '.join(written)}")
    return 0
