"""What a sweep's checks find does not depend on which of its jobs they look at first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.commands import Call, refused

STEEP = """
from targets import Binary, Target


class Steep(Target):
    '''Independent bits whose gradient is twice as large as that of their log density.'''

    def __init__(self):
        super().__init__()
        self.space = Binary(4)

    def log_prob(self, theta):
        return theta.sum(-1)

    def log_prob_and_grad(self, theta):
        return theta.sum(-1), 2.0 * theta.new_ones(theta.shape)
"""


@pytest.mark.parametrize("samplers", ["dmala,gibbs", "gibbs,dmala"])
def test_a_wrong_gradient_is_said_whoever_comes_first(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samplers: str
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "steep_target.py").write_text(STEEP)
    monkeypatch.syspath_prepend(str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "steep_target", raising=False)
    given = ("target._target_=steep_target.Steep", f"sampler={samplers}")
    ended = call("-m", *given, "metric=jump", "task.steps=20", "task.chains=3")
    assert ended.err.count("warning: the gradient that steep_target.Steep gives is not that of") == 1


@pytest.mark.parametrize("ladders", ["[1,0.3,0],[1,0.3,0.1]", "[1,0.3,0.1],[1,0.3,0]"])
def test_a_metric_that_one_ladder_cannot_serve_is_refused_before_any_work(call: Call, ladders: str) -> None:
    given = ("target=bernoulli4", "sampler=pt_dmala", f"sampler.ladder={ladders}", "sampler.step_size=0.3")
    said = refused(call, "-m", *given, "metric=[log_z]", "task.steps=20", "task.chains=3")
    assert "log_z needs" in said
