"""The line of a run, its row in a frame and its page have every metric, also one that is no finite number."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from runner.library.selected_runs import load_runs
from runner.site.build import Report
from tests.support.commands import Call
from tests.support.site.html_page import HtmlPage

METRICS = """
import math
import torch
from metrics.metric import Metric


class Ends(Metric):
    name, unit = "ends", ""

    def update(self, step, theta, info):
        self.shape = theta.shape[:1]

    def result(self):
        values = {"ends_nan": math.nan, "ends_inf": math.inf, "ends_low": -math.inf, "ends": 0.5}
        return {name: torch.full(self.shape, value, dtype=torch.float64) for name, value in values.items()}
"""


def test_values_that_are_not_finite_are_shown(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "not_finite.py").write_text(METRICS)
    monkeypatch.syspath_prepend(str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "not_finite", raising=False)
    run = (
        "target=bernoulli4",
        "sampler=gibbs",
        "metric=tv",
        "task.steps=5",
        "task.chains=2",
        "task.record=1",
    )
    for _ in range(2):  # the second time it was done before
        ended = call(*run, "+metric.ends._target_=not_finite.Ends")
        assert ended.status == 0, ended.err
        line = ended.out.splitlines()[1]
        assert "ends=0.5  ends_inf=inf  ends_low=-inf  ends_nan=nan  " in line
        assert "tv=" in line
    (row,) = load_runs().to_dict("records")
    assert (row["ends"], row["ends_inf"], row["ends_low"]) == (0.5, math.inf, -math.inf)
    assert math.isnan(row["ends_nan"])
    report = Report(Path("outputs"), Path("report"))
    report.build()
    shown = HtmlPage(next((report.site.path / "runs").glob("*.html"))).tables[0]
    cells = {line[0].text: line[1].text for line in shown}
    assert (cells["ends_inf"], cells["ends_low"], cells["ends_nan"]) == ("inf", "-inf", "nan")
