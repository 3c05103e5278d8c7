"""A gradient of one's own belongs to the log density of the target: its value, its type, its slope."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import runner
from samplers import DMALA, DULA
from targets import Binary, Ising, LogQuadratic, MixtureOfGaussians, Target
from targets.trial.gradient_trial import gradient_departure, try_gradient


class Ring(Target):
    """Spins on a ring, J = 1/2; `change` is what becomes of the right value and the right gradient."""

    def __init__(self, change: Any = lambda value, grad: (value, grad), smooth: bool = True) -> None:
        super().__init__()
        self.space, self.change, self.smooth = Binary(8), change, smooth

    def log_prob(self, theta: Tensor) -> Tensor:
        spins = 2.0 * (theta if self.smooth else theta.detach()) - 1.0
        return 0.5 * (spins * spins.roll(1, -1)).sum(-1)

    def log_prob_and_grad(self, theta: Tensor) -> Any:
        spins = 2.0 * theta - 1.0
        return self.change(self.log_prob(theta), spins.roll(1, -1) + spins.roll(-1, -1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value, grad: (2.0 * value, grad), "; to one state they give .* and "),
        (lambda value, grad: (value.double(), grad), ", it gave torch.float64, "),
        (lambda value, grad: (value.unsqueeze(-1), grad), r", it gave torch.float32, \(50, 1\) in place of"),
        (lambda value, grad: (None, grad), ", it gave a NoneType in place of torch.float32"),
    ],
)
def test_another_value_is_refused(change: Any, said: str) -> None:
    target = Ring(change)
    with pytest.raises(ValueError, match="^The target Ring must give the same log density in .*" + said):
        runner.sample(target, DULA(0.3), steps=10)


def test_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gave gradients of type torch.float64, torch.float32 was expected"):
        runner.sample(Ring(lambda value, grad: (value, grad.double())), DMALA(0.3), steps=10)


def test_another_slope_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    runner.sample(Ring(lambda value, grad: (value, -grad)), DULA(0.3), steps=10)
    said = capsys.readouterr().err
    assert said.startswith("warning: the gradient that Ring gives is not that of its log_prob: in one coord")
    assert said.count("\n") == 1


def test_right_ones_and_those_without_another_pass_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    runner.sample(Ring(), DULA(0.3), steps=10)
    runner.sample(Ring(lambda value, grad: (value, -grad), smooth=False), DULA(0.3), steps=10)
    assert capsys.readouterr().err == ""
    for target in (Ising(size=4), LogQuadratic(d=5), MixtureOfGaussians(8)):
        try_gradient("ours", target, target.initial((1, 2), torch.Generator().manual_seed(0)))
    assert gradient_departure("ours", Ising(size=4)) is None
    assert gradient_departure("refused elsewhere", Ring(lambda value, grad: (value, None))) is None
