"""`python -m runner.bench`: speed and memory of the project, measured in one run.

Ratios compare two computations measured one after the other; seconds depend on the computer.
Writes ``bench.md``, ``bench.csv`` and ``scaling.png`` to ``<output_root>/bench``.
"""

from __future__ import annotations

import argparse
import csv
import platform
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from runner.tools.bench.annealing import annealing_rows
from runner.tools.bench.baselines.jax_peer import jax_rows
from runner.tools.bench.child_cost import run_megabytes
from runner.tools.bench.deep_ebm import deep_memory_rows, deep_rows
from runner.tools.bench.memory.experiment_memory import experiment_memory_rows
from runner.tools.bench.optimisation.cut_step import cut_rows
from runner.tools.bench.real_spaces import real_rows
from runner.tools.bench.report.report_cost import report_rows
from runner.tools.bench.start_up import start_up_rows
from runner.tools.bench.steps.compiled_steps import compiled_rows
from runner.tools.bench.steps.cuda_steps import cuda_rows
from runner.tools.bench.steps.entropic_step import entropic_rows
from runner.tools.bench.steps.gpu_by_proxy import proxy_rows
from runner.tools.bench.steps.ising_step import ising_rows
from runner.tools.bench.steps.network_step import network_memory_rows, network_rows
from runner.tools.bench.steps.rbm_step import rbm_rows
from runner.tools.bench.tempering_round import scaling_rows, tempering_rows
from runner.tools.bench.timing import BenchRows
from runner.tools.bench.wandb_copies.wandb_cost import wandb_rows


def bench_rows(bench: BenchRows, folder: Path, *, short: bool, server: str | None) -> None:
    """Measures everything; without a module that serves as W&B what needs one is left out."""
    # First, since a child's peak memory includes that of its parent, which grows.
    few, many = (1_000, 4_000) if short else (10_000, 100_000)
    growth = run_megabytes(many) - run_megabytes(few)
    bench.limited(f"memory of {many} steps less that of {few}", f"{growth:.1f} MB", growth, 20, " MB")
    experiment_memory_rows(bench, ["pt_table1"] if short else ())
    report_rows(bench, 200 if short else 5_000)
    if server is not None:
        wandb_rows(bench, server, short=short)
    annealing_rows(bench, short=short)
    network_memory_rows(bench)
    deep_memory_rows(bench)
    real_rows(bench, short=short)
    for chains in (100, 1000):
        tempering_rows(bench, chains)
    rounds = 8 if short else 40
    rbm_rows(bench, rounds)
    jax_rows(bench, rounds)
    compiled_rows(bench, rounds)
    proxy_rows(bench)
    entropic_rows(bench, rounds)
    network_rows(bench, rounds)
    ising_rows(bench, rounds)
    cut_rows(bench, rounds)
    deep_rows(bench, rounds=1 if short else 2)
    cuda_rows(bench, short=short)
    scaling_rows(bench, folder, short=short)
    start_up_rows(bench, runs=3 if short else 10)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the bench; the status is 0 also where a wanted speed is not met: speed depends on the computer."""
    parser = argparse.ArgumentParser(prog="python -m runner.bench", description=__doc__)
    parser.add_argument("--output-root", default="outputs", help="where results go (default: outputs)")
    parser.add_argument("--short", action="store_true", help="a smaller bench, to see that it works")
    parser.add_argument("--wandb-server", metavar="MODULE", help="serves as W&B; without it that is left out")
    options = parser.parse_args(arguments)
    folder = Path(options.output_root) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    machine = f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads"
    about = f"Bench on {machine}, torch {torch.__version__}"
    console.print(about)
    bench = BenchRows(console.print)
    bench_rows(bench, folder, short=options.short, server=options.wandb_server)
    header = ("measured", "value", "wanted", "met")
    with (folder / "bench.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *bench.found])
    rows = "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * 4, *bench.found))
    (folder / "bench.md").write_text(f"{about}.\n\n{rows}\n")
    table = Table(*header)
    for row in bench.found:
        table.add_row(*row)
    console.print(table)
    console.print(f"Written to {folder}: bench.md, bench.csv, scaling.png")
    return 0
