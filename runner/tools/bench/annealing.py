"""Seconds and peak memory of annealed importance sampling, each length in a process of its own."""

from __future__ import annotations

import sys
import time

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.rbm_annealing import RBMAnnealing, reference_draws
from runner.tools.bench.child_cost import Cost, cost_of, print_cost
from targets.models.rbm import RBM
from targets.randomness import Streams

VISIBLE, HIDDEN, CHAINS = 784, 500, 100


def annealing_cost(temperatures: int) -> Cost:
    """Of a forward annealing of the 784 x 500 RBM with 100 chains, float32, in a new process.

    Raises:
        RuntimeError: if the process fails.
    """
    return cost_of("runner.tools.bench.annealing", str(temperatures))


def main() -> None:
    """Anneals along as many temperatures as the command line says and prints what it cost."""
    rbm = RBM(VISIBLE, HIDDEN).float().requires_grad_(False)
    streams = Streams([0], "bench/annealing")
    run = RBMAnnealing(rbm, schedule(int(sys.argv[1])), reference_draws(rbm, CHAINS, streams), streams)
    start = time.perf_counter()
    run.advance(run.steps)
    print_cost(time.perf_counter() - start)


if __name__ == "__main__":
    main()
