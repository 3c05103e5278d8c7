"""Panels of bars: their intervals are those over seeds, within the shares that there can be."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer

from metrics.inference.few_seeds import interval
from runner.report.draw_figures import draw_figure
from runner.report.figures.spectrum_bins import binned, edges
from runner.report.panels.hessian_spectrum import eigenvalues_of
from runner.report.runs.stored_results import Results
from runner.store.arrays.array_files import VISITS
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.tables import finished, shape_from

CONFIG = {
    "data": {"root": None},
    "target": {"name": "bernoulli4", "_target_": "targets.synthetic.bernoulli4.Bernoulli4"},
    "sampler": {"name": "dmala"},
}


def page_of(panel: dict[str, Any], *runs: Any) -> Any:
    block = {
        "title": "t", "caption": "c", "rows": [{"row": "A"}, {"row": "B"}],
        "columns": [{"label": "a", "where": {}}],
        "metrics": [{"metric": "tv", "name": "TV", "direction": "min"}],
    }  # fmt: skip
    figure = {"name": "f", "legend": [], "panels": [{"title": "A", "row": "A", "columns": ["a"]} | panel]}
    shape = shape_from(str(block | {"figures": [figure]}))
    return draw_figure(shape.figures[0], shape, Results(runs))


def bars_of(page: Any) -> np.ndarray:
    """Lower and upper ends of the intervals (n, 2) in the first panel."""
    (found,) = (each for each in page.axes[0].containers if isinstance(each, ErrorbarContainer))
    (bars,) = found.lines[2]
    assert isinstance(bars, LineCollection)
    return np.array([segment[:, 1] for segment in bars.get_segments()])


def texts(page: Any) -> list[str]:
    return [text.get_text() for text in page.axes[0].texts]


def test_intervals_of_classes_are_shares_and_say_where_they_leave_the_axis() -> None:
    values = {0: (0.02, 0.1, 0.2), 1: (0.9, 0.5, 0.32), 2: (0.08, 0.4, 0.48)}
    runs = [
        finished("A", "a", seed, CONFIG, {f"class_{name}": found[seed] for name, found in values.items()})
        for seed in range(3)
    ]
    spans = [interval(found) for found in values.values()]
    page = page_of({"kind": "class_histogram"}, *runs)
    ends = bars_of(page)
    expected = [(max(span.lo, 0.0), min(span.hi, 1.0)) for span in spans if span and span.lo and span.hi]
    assert ends == pytest.approx(np.array(expected))
    assert ends.min() == 0.0
    assert ends.max() == 1.0
    assert texts(page) == []
    page = page_of({"kind": "class_histogram", "limits": [0.0, 0.8]}, *runs)
    assert [(text.get_text(), int(text.xy[0])) for text in page.axes[0].texts] == [("▴", 1), ("▴", 2)]


def test_a_spectrum_has_intervals_over_seeds_and_says_so(tmp_path: Path) -> None:
    runs, shares = [], []
    for seed in range(3):
        counts = np.random.default_rng(seed).integers(0, 9, 16)
        folder = tmp_path / str(seed)
        folder.mkdir()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, visits=counts)
        (folder / VISITS).write_bytes(buffer.getvalue())
        runs.append(finished("A", "a", seed, CONFIG, {"tv": 0.1}, folder))
        shares.append(counts / counts.sum())
    eigenvalues = eigenvalues_of(Bernoulli4())
    heights = np.array([binned(eigenvalues, share, edges(eigenvalues)) for share in shares])
    spans = [span for each in heights.T if (span := interval(list(each))) and span.margin]
    page = page_of({"kind": "spectrum"}, *runs)
    assert bars_of(page) == pytest.approx(np.array([(max(span.lo, 0), span.hi) for span in spans]))
    (legend,) = page.legends
    assert legend.get_title().get_text() == "mean and 95 % interval over seeds"
    more = [finished("B", "a", seed, CONFIG, {"tv": 0.1}) for seed in range(2)]
    assert "n = 1" in texts(page_of({"kind": "spectrum"}, runs[0], *more))[0]


def test_classes_of_one_seed_say_so() -> None:
    runs = [
        finished(row, "a", seed, CONFIG, {"class_0": 1.0}) for row, seed in (("A", 0), ("B", 0), ("B", 1))
    ]
    assert texts(page_of({"kind": "class_histogram"}, *runs)) == ["n = 1"]
