"""The audit's figure: total variation of the cold replica under each swap rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from runner.report.figures.sampler_looks import BLUE, ORANGE
from runner.report.figures.style import RC
from runner.tools.audit.finding import Figure, MeasuredFinding

DPI = 200

SHORT = {
    "v1 Eq. 6 as printed (max)": "v1 Eq. 6, max",
    "v1 Eq. 6 with min": "v1 Eq. 6, min",
    "current states, sign of v1": "v1 sign,\ncurrent states",
    "v2 Eq. 5 (history)": "v2 Eq. 5,\nhistory",
    "released rule": "released",
    "released rule, exact moves": "released",
    "released rule, released moves": "released,\nreleased moves",
}


def draw_swap_rules(findings: Mapping[str, MeasuredFinding], path: Path) -> None:
    """Two panels: exact figures on the 12-state chain, draws on the 16-state target; the notes' as marks."""
    with pyplot.rc_context(RC):
        page, (left, right) = pyplot.subplots(
            1, 2, figsize=(7.5, 3.2), layout="constrained", sharey=True, width_ratios=(7, 5)
        )
        _bars(left, [findings["printed-rules"], findings["released-rule"]], [("exact moves", BLUE)])
        left.set_title("12-state chain, 2 replicas, by enumeration")
        left.set_ylabel("total variation to the target")
        series = [("DMALA inside", BLUE), ("DULA inside", ORANGE)]
        _bars(right, [findings["sixteen-states-dmala"], findings["sixteen-states-dula"]], series)
        right.set_title("16-state Bernoulli target, 3 replicas, drawn")
        for ax in (left, right):
            ax.grid(axis="x", visible=False)
        page.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        page.savefig(path, dpi=DPI, metadata={"Software": None})
        pyplot.close(page)


def _bars(ax: Axes, findings: list[MeasuredFinding], series: list[tuple[str, str]]) -> None:
    """Bars of the measured figures; a diamond where the notes give a figure."""
    if len(series) == 1:
        groups = [[figure for finding in findings for figure in finding.figures]]
    else:
        groups = [list(finding.figures) for finding in findings]
    width = 0.8 / len(groups)
    for place, (figures, (label, colour)) in enumerate(zip(groups, series, strict=True)):
        at = [i + (place - (len(groups) - 1) / 2) * width for i in range(len(figures))]
        ax.bar(at, [figure.measured for figure in figures], width=0.92 * width, color=colour, label=label)
        for x, figure in zip(at, figures, strict=True):
            top = max(figure.measured, _notes(figure) or 0.0)
            ax.text(x, top + 0.018, _label(figure.measured), ha="center", fontsize=6.5)
        marks = [(x, notes) for x, one in zip(at, figures, strict=True) if (notes := _notes(one)) is not None]
        named = "figure of the notes, to which the setting was fitted" if place == len(groups) - 1 else None
        ax.plot(*zip(*marks, strict=True), "D", markersize=3.5, mfc="white", mec="black", label=named)
    names = [figure.name for figure in groups[0]]
    ax.set_xticks(range(len(names)), [SHORT.get(name, name) for name in names], rotation=35, ha="right")
    ax.set_ylim(0, 0.65)


def _notes(figure: Figure) -> float | None:
    """The figure of the notes: as stated, or else the middle of the interval."""
    middle = (figure.expected.low + figure.expected.high) / 2
    return middle if figure.stated is None and math.isfinite(middle) else figure.stated


def _label(value: float) -> str:
    return "0" if value < 1e-9 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
