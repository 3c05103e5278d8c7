"""Seconds and peak memory of tempering on the reals: many STMH chains, and spectral gaps in the plane."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch

from metrics.diffusion.langevin_gap import inverse_gap, langevin, reld
from metrics.library.thread_count import thread_count
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.timing import BenchRows, stepping
from samplers import GaussianWalk, SimulatedTempering
from targets.synthetic.paper_mixtures import singular_mixture, stmh_two_modes

CHAINS, STEPS, DISTANCE = 20_000, 1_000, 30.0
LADDER = [0.6**level for level in range(12)]
EPSILON, BOX, WIDE_BOX = 0.3, 2.5, 3.0


def chains() -> None:
    """20,000 chains on the two modes of STMH at D = 30, where its coarse ladder has 12 levels."""
    partition, step_size = [0.0] * len(LADDER), DISTANCE / 2
    kernel = SimulatedTempering(GaussianWalk(1.0), LADDER, log_partition=partition, step_size=step_size)
    step = stepping(kernel, stmh_two_modes(DISTANCE).float(), CHAINS, tables=False)
    for _ in range(STEPS):
        step()


def langevin_gap(points: int) -> None:
    """The inverse gap of Langevin diffusion in the plane."""
    inverse_gap(singular_mixture(EPSILON, 2).double(), langevin(), 0.0, points, BOX)


def exchange_gap(points: int) -> None:
    """The inverse gap of replica exchange on pairs of points of the plane."""
    speed = EPSILON**-2
    inverse_gap(singular_mixture(EPSILON, 2).double(), reld(speed), speed, points, WIDE_BOX)


def real_rows(bench: BenchRows, *, short: bool) -> None:
    """The rows of the bench, each of a process of its own."""
    cost = cost_of("runner.tools.bench.real_spaces", "chains")
    good = cost.seconds <= 60 and cost.megabytes <= 1000
    bench.add(f"STMH, {CHAINS} chains x {STEPS} steps, 1 thread", str(cost), "<= 60 s, 1,000 MB", good)
    cost = cost_of("runner.tools.bench.real_spaces", "langevin", "61")
    bench.limited("spectral gap of LD, grid of 61 x 61", str(cost), cost.seconds, 30, " s")
    points = 13 if short else 25
    cost = cost_of("runner.tools.bench.real_spaces", "exchange", str(points))
    bench.add(f"spectral gap of ReLD, pairs of points of a grid of {points} x {points}", str(cost))


def main() -> None:
    """Does what the command line says and prints what it cost."""
    what, *points = sys.argv[1:]
    work: dict[str, Callable[..., None]] = {
        "chains": chains,
        "langevin": langevin_gap,
        "exchange": exchange_gap,
    }
    with thread_count(1), torch.no_grad():
        print_cost(lambda: work[what](*map(int, points)))


if __name__ == "__main__":
    main()
