"""Seconds and peak memory of annealed importance sampling, each length in a process of its own."""

from __future__ import annotations

import sys

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.rbm_annealing import RBMAnnealing, reference_draws
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.timing import BenchRows
from targets import RBM, Streams

VISIBLE, HIDDEN, CHAINS = 784, 500, 100


def annealing_rows(bench: BenchRows, *, short: bool) -> None:
    """A forward annealing of an RBM in float32, and whether memory grows with its length."""
    few, many = (100, 400) if short else (1_000, 10_000)
    brief, long = (cost_of("runner.tools.bench.annealing", str(count)) for count in (few, many))
    name = f"AIS, {many} temperatures x {CHAINS} chains, {VISIBLE} x {HIDDEN}"
    bench.add(name, str(long))
    growth = long.megabytes - brief.megabytes
    bench.limited(f"{name}: memory less that of {few}", f"{growth:.1f} MB", growth, 20, " MB")


def main() -> None:
    """Anneals along as many temperatures as the command line says and prints what it cost."""
    rbm = RBM(VISIBLE, HIDDEN).float().requires_grad_(False)
    streams = Streams([0], "bench/annealing")
    run = RBMAnnealing(rbm, schedule(int(sys.argv[1])), reference_draws(rbm, CHAINS, streams), streams)
    print_cost(lambda: run.advance(run.steps))


if __name__ == "__main__":
    main()
