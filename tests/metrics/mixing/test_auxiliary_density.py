"""The density of theta_a: against a histogram by NumPy, the exact mixture by enumeration, wrong kernels."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor

from metrics import AuxiliaryDensity, Context, MetricSuite, UnsupportedMetric
from metrics.mixing.auxiliary_mixture import auxiliary_mixture
from samplers import EDMALA, EDMALAGLU, EDULA, Kernel, ParallelTempering
from samplers.proposals.entropic_langevin import THETA_A
from targets import Bernoulli4, Categorical, IndependentBits, Ordinal, Target
from targets.randomness import Streams
from tests.support.measuring import silent
from tests.support.steps.stepping import ONE
from tests.support.targets.modes import Bare
from tests.support.targets.small_targets import random_target

DRAWS = 4000


def shares(
    theta_a: Tensor, kernel: Kernel | None = None, target: Target | None = None, **options: Any
) -> dict[str, Tensor]:
    """The values after steps with the auxiliary variables ``(steps, seeds, chains, *event)``."""
    size = theta_a.shape[1:3]
    run = Context(target or Bernoulli4(), kernel or EDMALAGLU(1.0, 0.3), *size, torch.device("cpu"))
    suite = MetricSuite(run, {"auxiliary_density": partial(AuxiliaryDensity, **options)})
    for step, aux in enumerate(theta_a):
        suite.update(step, torch.zeros_like(aux), replace(silent(*size), aux={THETA_A: aux}))
    return suite.result()


def drawn(target: Target, eta: float, seed: int = 0) -> Tensor:
    """Draws of theta_a from the joint distribution, ``(1, 1, DRAWS, *event)``."""
    streams = Streams([seed], "test")
    theta = target.sample((1, DRAWS), streams)
    return (theta + math.sqrt(eta) * streams.normal((1, DRAWS), theta.shape[2:], theta.dtype)).unsqueeze(0)


def noise(cells: int, draws: int) -> float:
    """What the total variation of `draws` independent draws exceeds with probability 1e-6 at most.

    Its mean is at most half the root of cells / draws; McDiarmid's inequality bounds the rest.
    """
    return math.sqrt(cells / draws) / 2 + math.sqrt(math.log(1e6) / (2 * draws))


def test_the_shares_are_those_of_a_histogram_with_what_is_outside() -> None:
    theta_a = 3.0 * torch.randn(7, 2, 5, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = shares(theta_a, low=-2.0, high=3.0, bins=11)
    for seed in range(2):
        values = theta_a[:, seed].numpy().ravel()
        counts, _ = np.histogram(values, 11, (-2.0, 3.0))
        wanted = [(values < -2.0).sum(), *counts, (values >= 3.0).sum()]
        assert wanted[0] > 0
        assert wanted[-1] > 0
        names = ["auxiliary_below", *(f"auxiliary_bin_{bin}" for bin in range(11)), "auxiliary_above"]
        assert [round(float(found[name][seed]) * values.size) for name in names] == wanted
        assert sum(float(found[name][seed]) for name in names) == pytest.approx(1.0)


def test_what_is_no_number_is_above() -> None:
    found = shares(torch.tensor([math.nan, math.inf, -math.inf, 0.0]).reshape(1, 1, 1, 4))
    assert [float(found[f"auxiliary_{place}"]) for place in ("below", "above")] == [0.25, 0.5]


def test_the_mixture_of_one_bit_has_two_halves() -> None:
    mixture = auxiliary_mixture(IndependentBits(1, spread=0.0), 0.2)
    assert mixture is not None
    places = np.linspace(-4.0, 5.0, 181)
    sd = math.sqrt(0.2)
    below = (norm.cdf(places, 0.0, sd) + norm.cdf(places, 1.0, sd)) / 2
    cells = torch.from_numpy(np.diff([0.0, *below, 1.0]))
    torch.testing.assert_close(mixture.shares(torch.from_numpy(places)), cells)


@pytest.mark.parametrize("space", [Ordinal(2, 3), Categorical(2, 3)])
def test_the_mixture_pools_the_coordinates_of_all_states(space: Ordinal | Categorical) -> None:
    target = random_target(space, seed=1)
    mixture = auxiliary_mixture(target, 0.5)
    assert mixture is not None
    by_hand: dict[float, float] = {}
    for state, probability in zip(space.states(), target.probabilities(), strict=True):
        for value in state.flatten().tolist():
            by_hand[value] = by_hand.get(value, 0.0) + float(probability) / state.numel()
    assert mixture.values.tolist() == sorted(by_hand)
    assert mixture.weights.tolist() == pytest.approx([by_hand[value] for value in sorted(by_hand)])


def test_draws_of_the_joint_distribution_have_no_gap_and_a_wrong_eta_is_found() -> None:
    """False alarms: at most 1e-6."""
    target, bins = IndependentBits(1, spread=0.0), 30
    found = shares(drawn(target, 0.3), EDMALAGLU(1.0, 0.3), target, bins=bins)
    assert float(found["auxiliary_gap"]) < noise(bins + 2, DRAWS)
    wrong = shares(drawn(target, 1.0), EDMALAGLU(1.0, 0.3), target, bins=bins)
    exact, other = (auxiliary_mixture(target, eta) for eta in (0.3, 1.0))
    assert exact is not None
    assert other is not None
    edges = torch.linspace(-4.0, 5.0, bins + 1, dtype=torch.float64)
    apart = float((exact.shares(edges) - other.shares(edges)).abs().sum()) / 2
    assert apart > 2 * noise(bins + 2, DRAWS)
    assert abs(float(wrong["auxiliary_gap"]) - apart) < noise(bins + 2, DRAWS)


def gap_of(kernel: Kernel, chains: int = 40_000, steps: int = 30) -> float:
    """The gap of chains of one bit of probability 1/2 that start at exact draws, less `noise`."""
    target, streams = IndependentBits(1, spread=0.0), Streams([1], "test")
    run = Context(target, kernel, 1, chains, torch.device("cpu"))
    suite = MetricSuite(run, {"auxiliary_density": partial(AuxiliaryDensity, bins=30)})
    state = kernel.drawn(kernel.init(target, target.sample((1, chains), streams), ONE), streams)
    for step in range(steps):
        state, info = kernel.step(target, state, ONE, streams)
        suite.update(step, kernel.draws(state), info)
    return float(suite.result()["auxiliary_gap"]) - noise(32, chains)


@pytest.mark.parametrize("eta", [0.05, 0.5, 2.0])
def test_exact_samplers_leave_the_joint_distribution_and_others_do_not(eta: float) -> None:
    """All steps together are no farther off than the draws of one step, but for a false alarm in 1e-6."""
    for kernel in (EDMALAGLU(eta, eta), EDMALA(eta, eta, 3.0 * eta)):
        assert gap_of(kernel) < 0
    assert gap_of(EDULA(eta, eta, 3.0 * eta)) > 0


def test_the_gap_is_left_out_where_the_states_are_too_many() -> None:
    aux = torch.zeros(1, 1, 2, 17)
    assert "auxiliary_gap" not in shares(aux, target=IndependentBits(17))
    assert "auxiliary_gap" in shares(aux[..., :16], target=IndependentBits(16))


def test_a_tempered_kernel_is_refused() -> None:
    kernel = ParallelTempering(EDMALA(1.0, 0.7, 0.3), ladder=[1.0, 0.5], step_size=1.0)
    words = (
        "auxiliary_density needs an entropic sampler without tempering, such as edmala; "
        "ParallelTempering is none"
    )
    with pytest.raises(UnsupportedMetric, match=f"^{words}$"):
        AuxiliaryDensity(Context(Bare(), kernel, 1, 1, torch.device("cpu")))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bins": 0}, "bins must be a whole number of at least 1, 0 was given"),
        ({"low": 5.0}, "low must be a number below high, which is 5.0, 5.0 was given"),
        ({"high": math.inf}, "low must be a number below high, which is inf, -4.0 was given"),
    ],
)
def test_bins_that_make_no_sense_are_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=f"^metric.auxiliary_density.{words}$"):
        AuxiliaryDensity(Context(Bare(), EDMALA(1.0), 1, 1, torch.device("cpu")), **given)
