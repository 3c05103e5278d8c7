"""`python -m runner.bench`: speed and memory of the project, measured in one run.

Ratios compare two computations measured one after the other; seconds depend on the computer.
Writes ``bench.md``, ``bench.csv`` and ``scaling.png`` to ``<output_root>/bench``.
"""

from __future__ import annotations

import argparse
import csv
import platform
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from runner.tools.bench import (
    annealing,
    deep_ebm,
    entropic_step,
    memory,
    network_step,
    rbm_step,
    real_spaces,
    start_up,
    tempering_round,
)
from runner.tools.bench.scaling_figure import draw_scaling, worst_exponent


def bench_rows(console: Console, folder: Path, *, short: bool) -> list[tuple[str, str, str, str]]:
    """What was measured, the figure, what it should be, and whether it is."""
    found: list[tuple[str, str, str, str]] = []

    def add(name: str, value: str, wanted: str, good: bool) -> None:
        found.append((name, value, wanted, "yes" if good else "NO"))
        console.print(f"  {name}: {value} (wanted: {wanted})", highlight=False)

    # First, since a child's peak memory includes that of its parent, which grows.
    memory_rows(add, short=short)
    real_spaces.real_rows(add, short=short)
    for chains in (100, 1000):
        result = tempering_round.compare_tempering(chains)
        name = f"PT-DMALA round, 5 replicas x {chains} chains"
        cost = f"{1e3 * result.plain:.2f} ms against {1e3 * result.suite:.2f} ms"
        add(
            f"{name}, faster than the plain loop",
            f"{result.ratio:.1f} times ({cost})",
            ">= 10",
            result.ratio >= 10,
        )
        add(f"{name}, without tables", f"{result.ratio_without_tables:.1f} times", "-", True)
        add(f"{name}, evaluations per replica", f"{result.evaluations:g}", "1", result.evaluations == 1)
    rbm_rows(add, rounds=8 if short else 40)
    entropic_step.entropic_rows(add, rounds=8 if short else 40)
    network_step.network_rows(add, rounds=8 if short else 40)
    deep_ebm.deep_rows(add, rounds=1 if short else 2)
    times = tempering_round.scaling((1, 2, 8), (10, 1000)) if short else tempering_round.scaling()
    draw_scaling(times, folder)
    for axis, exponent in worst_exponent(times).items():
        add(
            f"largest growth exponent with {axis}",
            f"{exponent:.2f}",
            "<= 1 (1.1 with noise)",
            exponent <= 1.1,
        )
    most = max(chain for _, chain in times)
    plain = f"{times[2, most] / times[1, most]:.2f} times"
    add(f"a ladder of 2 against plain DMALA, {most} chains", plain, "-", True)
    timed = start_up.measure(runs=3 if short else 10)
    add("python -m runner --help", f"{timed.help:.2f} s", "<= 2 s", timed.help <= 2)
    refused = timed.refusal_status == 2
    add(
        "a mistyped override is refused",
        f"{timed.refusal:.2f} s, status {timed.refusal_status}",
        "2",
        refused,
    )
    add("one run of a sweep, from the shell", f"{timed.first_run:.2f} s", "-", True)
    add("a sweep's overhead per further run", f"{timed.overhead:.3f} s", "<= 0.3 s", timed.overhead <= 0.3)
    return found


def memory_rows(add: Callable[[str, str, str, bool], None], *, short: bool) -> None:
    """The rows about peak memory, each of a process of its own."""
    few, many = (1_000, 4_000) if short else (10_000, 100_000)
    growth = memory.run_megabytes(many) - memory.run_megabytes(few)
    add(f"memory of {many} steps less that of {few}", f"{growth:.1f} MB", "<= 20 MB", growth <= 20)
    few, many = (100, 400) if short else (1_000, 10_000)
    brief, long = annealing.annealing_cost(few), annealing.annealing_cost(many)
    name = f"AIS, {many} temperatures x 100 chains, 784 x 500"
    add(name, f"{long.seconds:.1f} s, {long.megabytes:.0f} MB", "-", True)
    growth = long.megabytes - brief.megabytes
    add(f"{name}: memory less that of {few}", f"{growth:.1f} MB", "<= 20 MB", growth <= 20)
    peak = network_step.network_megabytes()
    name = "50 binary networks of 500 units, 29,860 rows x 88: memory of a step"
    add(name, f"{peak:.0f} MB", "<= 4096 MB", peak <= 4096)
    deep_ebm.deep_memory_rows(add)


def rbm_rows(add: Callable[[str, str, str, bool], None], rounds: int) -> None:
    """The rows about an RBM of 784 visible and 500 hidden units, 100 chains, float32."""
    step = rbm_step.compare_rbm_step(rounds)
    name = "DMALA step, RBM 784 x 500, 100 chains, 1 thread"
    share, faster = step.single / step.products, step.plain / step.single
    growth, swap = step.tempered / (5 * step.single), step.swap / step.tempered
    single, times = f"{1e3 * step.single:.2f} ms", "{:.2f} times ({} against {:.2f} ms)"
    found = times.format(share, single, 1e3 * step.products)
    add(f"{name}, against its two matrix products", found, "<= 1.8", share <= 1.8)
    found = times.format(faster, single, 1e3 * step.plain)
    add(f"{name}, faster than plain autograd", found, ">= 2.5", faster >= 2.5)
    found = times.format(growth, f"{1e3 * step.tempered:.2f} ms", 5e3 * step.single)
    add("its round of 5 replicas, against 5 steps", found, "<= 1.15", growth <= 1.15)
    add("the swaps in that round", f"{100 * swap:.1f} %", "<= 5 %", swap <= 0.05)
    for count in (1, 2):
        for sampler, steps in rbm_step.steps_a_second(count, rounds).items():
            add(f"{sampler}, RBM 784 x 500, 100 chains, threads={count}", f"{steps:.0f} steps/s", "-", True)


def main() -> int:
    """Runs the bench; the status is 0 also where a wanted speed is not met: speed depends on the computer."""
    parser = argparse.ArgumentParser(prog="python -m runner.bench", description=__doc__)
    parser.add_argument("--output-root", default="outputs", help="where results go (default: outputs)")
    parser.add_argument("--short", action="store_true", help="a smaller bench, to see that it works")
    options = parser.parse_args()
    folder = Path(options.output_root) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    machine = f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads"
    console.print(f"Bench on {machine}, torch {torch.__version__}", highlight=False)
    found = bench_rows(console, folder, short=options.short)
    header = ("measured", "value", "wanted", "met")
    with (folder / "bench.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *found])
    lines = [
        f"Bench on {machine}, torch {torch.__version__}.",
        "",
        f"| {' | '.join(header)} |",
        "|---" * 4 + "|",
    ]
    lines += [f"| {' | '.join(row)} |" for row in found]
    (folder / "bench.md").write_text("\n".join(lines) + "\n")
    table = Table(*header)
    for row in found:
        table.add_row(*row)
    console.print(table)
    console.print(f"Written to {folder}: bench.md, bench.csv, scaling.png", highlight=False)
    return 0
