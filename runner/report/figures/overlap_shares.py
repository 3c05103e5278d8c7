"""The distribution of the overlap of two chains in even bins from -1 to 1, by the metric `overlap`."""

from __future__ import annotations

from metrics.inference.few_seeds import Interval
from runner.report.figures.panel import PanelData

SHARE, BINS = "overlap_bin_", 20
"""The values of the metric `overlap` with the shares of q from -1 to -1 + 2 / BINS, and so on."""


def overlap_shares(data: PanelData, row: str) -> list[Interval]:
    """The share of each bin of q over the seeds of `row`; empty where its runs have none."""
    spans = [data.interval(row, data.column, f"{SHARE}{number}") for number in range(BINS)]
    known = [span for span in spans if span is not None]
    return known if len(known) == BINS else []


def bin_middles() -> list[float]:
    """The middle of each bin of q."""
    return [(2 * number + 1) / BINS - 1 for number in range(BINS)]
