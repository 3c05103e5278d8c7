"""Seconds and peak memory of tempering on the reals: many STMH chains, and spectral gaps in the plane."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch

from metrics.diffusion.langevin_gap import inverse_gap, langevin, reld
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.rbm_step import thread_count
from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.randomness import Streams
from targets.synthetic.paper_mixtures import singular_mixture, stmh_two_modes

CHAINS, STEPS, DISTANCE = 20_000, 1_000, 30.0
LADDER = [0.6**level for level in range(12)]
EPSILON, BOX, WIDE_BOX = 0.3, 2.5, 3.0


def chains() -> None:
    """20,000 chains on the two modes of STMH at D = 30, where its coarse ladder has 12 levels."""
    target = stmh_two_modes(DISTANCE).float()
    kernel = SimulatedTempering(
        GaussianWalk(1.0), LADDER, log_partition=[0.0] * len(LADDER), step_size=DISTANCE / 2
    ).to(target.like())
    generator, one = Streams([0], "bench"), torch.ones(())
    state = kernel.init(target, target.initial((1, CHAINS), generator), one)
    for _ in range(STEPS):
        state, _ = kernel.step(target, state, one, generator)


def langevin_gap(points: int) -> None:
    """The inverse gap of Langevin diffusion in the plane."""
    inverse_gap(singular_mixture(EPSILON, 2).double(), langevin(), 0.0, points, BOX)


def exchange_gap(points: int) -> None:
    """The inverse gap of replica exchange on pairs of points of the plane."""
    speed = EPSILON**-2
    inverse_gap(singular_mixture(EPSILON, 2).double(), reld(speed), speed, points, WIDE_BOX)


def real_rows(add: Callable[[str, str, str, bool], None], *, short: bool) -> None:
    """The rows of the bench, each of a process of its own."""
    found = cost_of("runner.tools.bench.real_spaces", "chains")
    good = found.seconds <= 60 and found.megabytes <= 1000
    cost = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add(f"STMH, {CHAINS} chains x {STEPS} steps, 1 thread", cost, "<= 60 s, 1,000 MB", good)
    found = cost_of("runner.tools.bench.real_spaces", "langevin", "61")
    cost = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add("spectral gap of LD, grid of 61 x 61", cost, "<= 30 s", found.seconds <= 30)
    points = 13 if short else 25
    found = cost_of("runner.tools.bench.real_spaces", "exchange", str(points))
    cost = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add(f"spectral gap of ReLD, pairs of points of a grid of {points} x {points}", cost, "-", True)


def main() -> None:
    """Does what the command line says and prints what it cost."""
    what, *points = sys.argv[1:]
    start = time.perf_counter()
    with thread_count(1), torch.no_grad():
        if what == "chains":
            chains()
        else:
            {"langevin": langevin_gap, "exchange": exchange_gap}[what](int(points[0]))
    print_cost(time.perf_counter() - start)


if __name__ == "__main__":
    main()
