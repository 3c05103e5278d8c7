"""Seconds a round against replicas and chains: a figure, and how steeply they grow."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from runner.report.figures.sampler_looks import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION

COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY)
MARKERS = "osD^vP"


def worst_exponent(times: dict[tuple[int, int], float], shortest: float = 1e-3) -> dict[str, float]:
    """The largest log-log slope between neighbours of a line of measurements, by axis: 1 is linear growth.

    One replica is no ladder and has no swaps, so growth with replicas counts from two.

    Args:
        times: seconds by replicas and chains.
        shortest: seconds up to which a time says nothing, since noise dominates it.
    """
    worst = {"replicas": -math.inf, "chains": -math.inf}
    for name, axis in (("replicas", 0), ("chains", 1)):
        for fixed in {key[1 - axis] for key in times}:
            line = sorted(
                (key[axis], value) for key, value in times.items() if key[1 - axis] == fixed and key[0] > 1
            )
            for (n, first), (m, second) in pairwise(line):
                if second > shortest:
                    worst[name] = max(worst[name], math.log(second / first) / math.log(m / n))
    return worst


def draw_scaling(times: dict[tuple[int, int], float], folder: Path) -> None:
    """Writes ``scaling.png``: two panels, time against replicas and against chains, with a linear guide."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    for panel, axis, name, other in (
        (panels[0], 0, "replicas", "chains"),
        (panels[1], 1, "chains", "replicas"),
    ):
        for place, fixed in enumerate(sorted({key[1 - axis] for key in times})):
            line = sorted((key[axis], 1e3 * value) for key, value in times.items() if key[1 - axis] == fixed)
            colour, marker = COLOURS[place % 6], MARKERS[place % 6]
            label = f"{fixed:,} {other if fixed > 1 else other[:-1]}"
            panel.plot(*zip(*line, strict=True), color=colour, marker=marker, label=label)
        start, end = line[0][0], line[-1][0]
        guide = [line[-1][1] * start / end, line[-1][1]]
        panel.plot([start, end], guide, color="0.6", linestyle=":", label="linear")
        panel.set(xscale="log", yscale="log", xlabel=f"{name} (number)")
        panel.grid(alpha=0.3, which="both")
        panel.legend(fontsize=8, frameon=False)
    panels[0].set_ylabel("time of one PT-DMALA round (ms)")
    figure.savefig(folder / "scaling.png", dpi=200)
    plt.close(figure)
