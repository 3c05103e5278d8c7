"""The line of a run names every metric, also one whose final value is no finite number."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.commands import Call

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


def test_values_that_are_not_finite_are_printed(
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
