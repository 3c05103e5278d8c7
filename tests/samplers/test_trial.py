"""A step that does not return what a kernel must, or draws from torch's global generator, is refused."""

from __future__ import annotations

import enum
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import DMALA, Info, ParallelTempering, SimulatedTempering, State
from samplers.kernel import Kernel, evaluate
from samplers.trial.step_trial import misplaced, try_step
from targets import Bernoulli4, Binary, FunctionTarget, LogQuadratic, Ordinal, Real, Streams, Target
from targets.randomness import uniform


class Wrong(DMALA):
    """DMALA whose step returns what `change` makes of its state and its info."""

    change: Any = None
    before: State

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> Any:
        type(self).before = state
        return type(self).change(*super().step(target, state, beta, generator))


def drawn(state: State, info: Info) -> tuple[State, Info]:
    torch.rand(3)
    return state, info


CASES = {
    "torch's global generator": drawn,
    "must return a pair of a State and an Info, it gave": lambda state, info: state,
    "a pair of .* and ": lambda state, info: (state, {"acceptance": info.acceptance}),
    r"the state's theta as a tensor of shape \(1, 2, 5\), not shape \(2, 5\)": lambda state, info: (
        replace(state, theta=state.theta[0]),
        info,
    ),
    r"the state's log_prob as a tensor of shape \(1, 2\), not shape \(2,\)": lambda state, info: (
        replace(state, log_prob=state.log_prob[0]),
        info,
    ),
    r"Info.acceptance as a tensor of shape \(1, 2\), not shape \(\)": lambda state, info: (
        state,
        replace(info, acceptance=info.acceptance.mean()),
    ),
    r"Info.jump as a tensor of shape \(1, 2\), not 3": lambda state, info: (state, replace(info, jump=3)),
    r"Info.evaluations as a whole number of at least 0, not": lambda state, info: (
        state,
        replace(info, evaluations=torch.tensor(1)),
    ),
}


def with_a_chain_added(state: State, info: Info) -> tuple[State, Info]:
    return replace(state, aux={"position": state.log_prob}), info


def in_place(state: State, info: Info) -> tuple[State, Info]:
    Wrong.before.theta.zero_()
    return state, info


def test_a_state_without_support_has_no_density_that_is_kept() -> None:
    own = torch.tensor([[-torch.inf, -1.0]])
    assert not misplaced(Bernoulli4(), torch.zeros(1, 2, 4), own, own)
    said = misplaced(Bernoulli4(), torch.zeros(1, 2, 4), torch.tensor([[-5.0, -1.0]]), own)
    assert said.endswith("it gave -5 where the target has -inf")


CASES |= {
    "Info.acceptance as floats, not torch.bool": lambda state, info: (
        state,
        replace(info, acceptance=info.acceptance > 0.5),
    ),
    "Info.acceptance as probabilities from 0 to 1, it gave 1.5": lambda state, info: (
        state,
        replace(info, acceptance=info.acceptance.fill_(1.5)),
    ),
    r"Info.evaluations as a whole number of at least 0, not -3": lambda state, info: (
        state,
        replace(info, evaluations=-3),
    ),
    "the state's theta as torch.float64, not torch.float32": lambda state, info: (
        replace(state, theta=state.theta.float()),
        info,
    ),
    r"stay in the space Binary.*, it went to \[0.5": lambda state, info: (
        replace(state, theta=0.0 * state.theta + 0.5),
        info,
    ),
    "the log density of its new theta as the state's log_prob, it gave": lambda state, info: (
        replace(state, log_prob=state.log_prob + 1.0),
        info,
    ),
    "must give the same State.aux, only step gives position": with_a_chain_added,
    "must not change the state that it is given, it changed its theta": in_place,
    "fails: TypeError: nothing to add .test_trial.py, line": lambda state, info: nothing(),
    "fails: ValueError: too many values .*test_trial.py, line": lambda state, info: unpacked(info),
    "fails: ValueError: 'x' is not .*_Side .*test_trial.py, line": lambda state, info: _Side("x"),
    "draws from NumPy's global generator": lambda state, info: (np.random.rand(), (state, info))[1],
    "draws from Python's global generator": lambda state, info: (random.random(), (state, info))[1],
}


class _Side(enum.Enum):
    left = 0


def unpacked(info: Info) -> Tensor:
    """Python's own error, which as a sentence would not say what it is about."""
    (chains,) = info.acceptance.shape
    return chains


def nothing() -> None:
    raise TypeError("nothing to add")


@pytest.mark.parametrize("said", CASES)
def test_what_a_step_must_not_do(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wrong, "change", staticmethod(CASES[said]))
    with pytest.raises(ValueError, match=f"^Wrong.(init and Wrong.)?step .*{said}"):
        run_chains(LogQuadratic(d=5), Wrong(0.5), chains=2, steps=10)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda state: [state], "must return a State, it gave a list"),
        (
            lambda state: replace(state, log_prob=state.log_prob.unsqueeze(-1)),
            r"log_prob .*, not shape \(1, 2, 1\)",
        ),
        (lambda state: (torch.rand(1), state)[1], "draws from torch's global generator"),
        (lambda state: nothing(), "fails: TypeError: nothing to add"),
    ],
)
def test_what_init_must_not_do(given: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = DMALA.init
    monkeypatch.setattr(Wrong, "init", lambda self, *arguments: given(right(self, *arguments)), raising=False)
    with pytest.raises(ValueError, match=f"^Wrong.init .*{said}"):
        run_chains(LogQuadratic(d=5), Wrong(0.5), chains=2, steps=10)


class Cached(DMALA):
    """DMALA that keeps numbers in its states, times beta to some power."""

    power = 1

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        state = super().init(target, theta, beta)
        return replace(state, aux={"kept": state.log_prob * beta**self.power})

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> Any:
        after, info = super().step(target, state, beta, generator)
        return replace(after, aux={"kept": after.log_prob * beta**self.power}), info


def test_what_depends_on_beta_is_refused_inside_a_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A swap takes it to another temperature, where the kernel was inexact without a word."""
    ladder, target = [1.0, 0.4], LogQuadratic(d=5)
    tempered = (
        ParallelTempering(Cached(0.5), ladder),
        SimulatedTempering(Cached(0.5), ladder, [0.0, 0.0]),
    )
    theta = target.initial((2, 1, 2), Streams([0], "start"))
    one = torch.ones((), dtype=torch.float64)
    for kernel in tempered:
        name = type(kernel).__name__
        with pytest.raises(ValueError, match=f"^Cached.init must .* inside {name}, .*; kept does$"):
            try_step(kernel, target, theta, one)
    try_step(Cached(0.5), target, theta, one)
    monkeypatch.setattr(Cached, "power", 0)
    for kernel in tempered:
        try_step(kernel, target, theta, one)


def test_a_right_step_passes_with_replicas_too() -> None:
    target, beta = LogQuadratic(d=5), torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64)
    kernel = ParallelTempering(DMALA(0.5), beta)
    one = torch.ones((), dtype=torch.float64)
    try_step(kernel, target, target.initial((3, 1, 2), Streams([0], "start")), one)


class Gradient(DMALA):
    """DMALA whose states keep the gradient times beta to some power, or that of where the chain was."""

    power, stale = 0, False

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        state = super().init(target, theta, beta)
        assert state.grad is not None
        scale = torch.as_tensor(beta**self.power).to(theta)
        return replace(
            state, grad=state.grad * scale.reshape(scale.shape + (1,) * (theta.dim() - scale.dim()))
        )

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> Any:
        after, info = super().step(target, state, beta, generator)
        return (replace(after, grad=state.grad) if self.stale else after), info


def test_a_gradient_of_another_state_or_temperature_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder, target = [1.0, 0.4], LogQuadratic(d=5)
    run_chains(target, ParallelTempering(Gradient(0.5), ladder), chains=2, steps=10)
    theta, one = target.initial((2, 1, 2), Streams([0], "start")), torch.ones((), dtype=torch.float64)
    monkeypatch.setattr(Gradient, "power", 1)
    for kernel in (
        ParallelTempering(Gradient(0.5), ladder),
        SimulatedTempering(Gradient(0.5), ladder, [0.0, 0.0]),
    ):
        said = (
            f"^Gradient.init must give a State.grad that does not depend .* inside {type(kernel).__name__}, "
        )
        with pytest.raises(ValueError, match=said):
            try_step(kernel, target, theta, one)
    monkeypatch.setattr(Gradient, "power", 0)
    monkeypatch.setattr(Gradient, "stale", True)
    # At the smaller step size neither chain moves in the first step, which leaves nothing stale.
    for size in (0.5, 0.15):
        with pytest.raises(ValueError, match=r"^Gradient.step must give the gradient of U at its new theta"):
            run_chains(target, Gradient(size), chains=2, steps=10)


class Ensemble(Kernel):
    """A random walk whose steps are as wide as the states of all chains, or of those of its own seed."""

    def __init__(self, dims: Any) -> None:
        self.dims = dims

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> tuple[State, Info]:
        draws = uniform(generator, state.log_prob.shape, (3,), like=state.theta)
        width = state.theta.std(self.dims, keepdim=self.dims is not None)
        after = evaluate(target, state.theta + (draws - 0.5) * width, gradient=False)
        certain = torch.ones_like(state.log_prob)
        return after, Info(certain, certain, 1)


def test_a_kernel_that_mixes_seeds_is_refused() -> None:
    """A run of a seed would depend on what is computed beside it."""
    target = FunctionTarget(lambda theta: -theta.square().sum(-1) / 2.0, Real(3))
    with pytest.raises(ValueError, match=r"^Ensemble.step must move the chains of a seed alike"):
        run_chains(target, Ensemble(None), chains=4, steps=10)
    run_chains(target, Ensemble((1, 2)), chains=4, steps=10)


@pytest.mark.parametrize(
    ("space", "theta", "said"),
    [
        (Binary(3), [-1.0, 1.0, 1.0], r"Binary\(d=3.*\), \[-1.0, 1.0, 1.0\] was given"),
        (Binary(3), [0.5, 0.0, 0.0], r"Binary\(d=3.*\), \[0.5, 0.0, 0.0\] was given"),
        (Ordinal(2, 4), [4.0, 0.0], r"Ordinal\(d=2.*\), \[4.0, 0.0\] was given"),
    ],
)
def test_chains_do_not_start_outside_of_the_space(space: Any, theta: list[float], said: str) -> None:
    """Chains may stay there for ever, with a density of their own."""
    target = FunctionTarget(lambda theta: theta.sum(-1), space)
    states, streams = torch.tensor([[[0.0] * space.d, theta]]), Streams([0], "chain")
    with pytest.raises(ValueError, match=f"^states must lie in the space {said}$"):
        DMALA(0.5).start(target, states, torch.ones(()), streams)
    DMALA(0.5).start(target, states[:, :1], torch.ones(()), streams)
    with pytest.raises(ValueError, match=r"^states must lie in the space"):
        DMALA(0.5).start(Bernoulli4(), 2.0 * torch.ones(1, 1, 4), torch.ones(()), streams)
