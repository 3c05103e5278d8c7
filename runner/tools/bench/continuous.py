"""Seconds and peak memory of tempering on the reals: many STMH chains, and spectral gaps in the plane."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch

from metrics.diffusion.langevin_gap import inverse_gap, langevin, reld
from runner.tools.bench.child_cost import cost_of, tell
from runner.tools.bench.rbm_step import threads
from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.randomness import Streams
from targets.synthetic.paper_mixtures import singular_mixture, two_modes

CHAINS, STEPS, DISTANCE = 20_000, 1_000, 30.0
LADDER = [0.6**level for level in range(12)]
EPSILON, BOX, WIDE_BOX = 0.3, 2.5, 3.0


def chains() -> None:
    """20,000 chains on the two modes of STMH at D = 30, where its coarse ladder has 12 levels."""
    target = two_modes(DISTANCE).float()
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


def rows(add: Callable[[str, str, str, bool], None], *, short: bool) -> None:
    """The rows of the bench, each of a process of its own."""
    found = cost_of("runner.tools.bench.continuous", "chains")
    good = found.seconds <= 60 and found.megabytes <= 1000
    said = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add(f"STMH, {CHAINS} chains x {STEPS} steps, 1 thread", said, "<= 60 s, 1,000 MB", good)
    found = cost_of("runner.tools.bench.continuous", "langevin", "61")
    said = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add("spectral gap of LD, grid of 61 x 61", said, "<= 30 s", found.seconds <= 30)
    points = 13 if short else 25
    found = cost_of("runner.tools.bench.continuous", "exchange", str(points))
    said = f"{found.seconds:.1f} s, {found.megabytes:.0f} MB"
    add(f"spectral gap of ReLD, pairs of points of a grid of {points} x {points}", said, "-", True)


def main() -> None:
    """Does what the command line says and tells what it cost."""
    what, *points = sys.argv[1:]
    begun = time.perf_counter()
    with threads(1), torch.no_grad():
        if what == "chains":
            chains()
        else:
            {"langevin": langevin_gap, "exchange": exchange_gap}[what](int(points[0]))
    tell(time.perf_counter() - begun)


if __name__ == "__main__":
    main()
