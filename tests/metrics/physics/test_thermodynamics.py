"""Averages of statistical physics against sums over draws and states; errors against repeated runs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics import BinderCumulant, Energy, Magnetisation, Metric, Overlap, SpecificHeat
from metrics.likelihood.target_log_partition import known_log_partition
from metrics.physics.overlap import of_seed
from metrics.statistics.jackknife import jackknife
from targets import FactorialHMM, Ising, LetterInfilling, LogQuadratic, Potts, Streams, Target
from targets.spaces import Binary
from targets.synthetic.tabulated import Tabulated
from tests.support.measuring import context, measure, random_draws

METRICS = [Energy, SpecificHeat, Magnetisation, BinderCumulant]
SMALL = Ising(size=[2, 3], coupling=0.3, field=0.1)


def averages(energy: Tensor, order: Tensor, weights: Tensor, d: int) -> dict[str, float]:
    """The four values of weighted draws or states."""
    mean = float((weights * energy).sum())
    square, fourth = ((weights * order**power).sum() for power in (2, 4))
    return {
        "energy": mean / d,
        "specific_heat": float((weights * (energy - mean) ** 2).sum()) / d,
        "magnetisation": float((weights * order.abs()).sum()),
        "binder": float(1 - fourth / (3 * square**2)),
    }


@pytest.mark.parametrize("target", [SMALL, Potts(size=2, q=3), LogQuadratic("binary", 5)], ids=type)
def test_values_are_those_of_the_draws_and_exact_ones_those_of_all_states(target: Target) -> None:
    draws = random_draws(target, 50, seeds=2, chains=4)
    found = measure(context(target, 2, 4), METRICS, draws).result()
    states = target.space.states()
    exact = averages(target.log_prob(states), order(target, states), target.probabilities(), target.space.d)
    for seed in range(2):
        theta = draws[:, seed].flatten(0, 1)
        weights = torch.full((200,), 1 / 200, dtype=torch.float64)
        expected = averages(target.log_prob(theta), order(target, theta), weights, target.space.d)
        for name, value in expected.items():
            assert float(found[name][seed]) == pytest.approx(value, abs=1e-12)
            assert float(found[f"{name}_exact"][seed]) == pytest.approx(exact[name], abs=1e-10)
            deviation = (value - exact[name]) / float(found[f"{name}_error"][seed])
            assert float(found[f"{name}_deviation"][seed]) == pytest.approx(deviation)


def test_averages_and_log_z_of_17_bits_are_summed_over_all_states() -> None:
    """More than are evaluated at once."""
    target = LogQuadratic("binary", 17)
    log_prob = target.log_prob(target.space.states())
    found = measure(context(target, 1, 4), [Energy], random_draws(target, 50, seeds=1, chains=4)).result()
    mean = float((log_prob.softmax(0) * log_prob).sum()) / 17
    assert float(found["energy_exact"]) == pytest.approx(mean, rel=1e-12)
    assert known_log_partition(target) == pytest.approx(float(log_prob.logsumexp(0)), rel=1e-12)


def order(target: Target, theta: Tensor) -> Tensor:
    """The order parameter, written out."""
    if isinstance(target, Potts):
        shares = torch.stack([theta.argmax(-1).eq(level).double().mean(-1) for level in range(3)])
        return (3 * shares.amax(0) - 1) / 2
    return (2 * theta - 1).mean(-1)


@pytest.mark.filterwarnings("error")
def test_exact_energies_leave_out_states_of_density_zero() -> None:
    log_prob = torch.tensor([-torch.inf, 0.7, 0.2, -torch.inf], dtype=torch.float64)
    target = Tabulated(Binary(2), log_prob, torch.zeros((4, 2)))
    draws = target.space.states()[torch.tensor([1, 2, 1, 1])].reshape(4, 1, 1, 2)
    found = measure(context(target, 1, 1), [Energy, SpecificHeat], draws).result()
    heavy = 1 / (1 + math.exp(-0.5))
    assert float(found["energy_exact"]) == pytest.approx((0.7 * heavy + 0.2 * (1 - heavy)) / 2)
    assert float(found["specific_heat_exact"]) == pytest.approx(0.25 * heavy * (1 - heavy) / 2)


class ByNumbers(Ising):
    """Its log Z is computed in numbers of NumPy, which autograd does not follow."""

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        return torch.tensor(float(np.log(np.exp(float(beta)))), dtype=torch.float64)


class ByArrays(Ising):
    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        return torch.as_tensor(np.log(np.exp(torch.as_tensor(beta).numpy())))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cls", [ByNumbers, ByArrays])
def test_exact_energies_are_summed_where_log_z_cannot_be_differentiated(cls: type[Ising]) -> None:
    given = {"coupling": 0.3, "field": 0.1}
    draws = random_draws(SMALL, 20, seeds=1, chains=4)
    small = cls(size=[2, 3], **given)
    found, expected = (
        measure(context(each, 1, 4), [Energy, SpecificHeat], draws).result() for each in (small, SMALL)
    )
    for name in ("energy_exact", "specific_heat_exact"):
        assert float(found[name]) == pytest.approx(float(expected[name]), abs=1e-10)
    large = cls(size=[5, 5], **given)  # 2^25 states are not listed
    draws = random_draws(large, 20, seeds=1, chains=4)
    assert "energy_exact" not in measure(context(large, 1, 4), [Energy], draws).result()


def test_large_models_have_exact_energies_where_log_z_is_known() -> None:
    target = Ising(size=16, coupling=0.3)
    found = measure(context(target, 1, 30), METRICS, random_draws(target, 8, 1, 30)).result()
    assert "energy_exact" in found
    assert "specific_heat_exact" in found
    assert {"magnetisation_exact", "binder_exact"}.isdisjoint(found)
    # The derivative of log Z in beta, by central differences.
    high, low = (float(target.log_partition(1 + step)) for step in (1e-4, -1e-4))
    assert float(found["energy_exact"]) == pytest.approx((high - low) / 2e-4 / 256, abs=1e-7)
    unknown = Ising(size=16, disorder="gaussian")
    assert set(measure(context(unknown, 1, 4), [Energy], random_draws(unknown, 8, 1, 4)).result()) == {
        "energy",
        "energy_error",
    }


def test_values_of_the_infinite_lattice_stand_beside_those_of_a_large_one() -> None:
    """At J = 0.5 a lattice of 64 x 64 has the same energy to seven digits."""
    target = Ising(size=64, coupling=0.5)
    found = measure(context(target, 1, 4), METRICS, random_draws(target, 4, 1, 4)).result()
    assert float(found["energy_infinite"]) == pytest.approx(float(found["energy_exact"]), abs=1e-7)
    assert float(found["magnetisation_infinite"]) == pytest.approx((1 - math.sinh(1.0) ** -4) ** 0.125)
    assert {"specific_heat_infinite", "binder_infinite"}.isdisjoint(found)


@pytest.mark.parametrize("chains", [1, 3, 30])
def test_the_jackknife_leaves_out_one_block_after_another(chains: int) -> None:
    series = np.random.default_rng(3).normal(size=(43, chains)).cumsum(0)
    moments = np.stack([series, series**2])
    value, error = jackknife(moments, lambda means: means[1] - means[0] ** 2)
    assert value == pytest.approx(series.var())
    parts = math.ceil(20 / chains)
    length = 43 // parts
    kept = series[43 - parts * length :]
    blocks = [
        kept[part * length : (part + 1) * length, chain] for part in range(parts) for chain in range(chains)
    ]
    left = [np.concatenate(blocks[:one] + blocks[one + 1 :]).var() for one in range(len(blocks))]
    expected = math.sqrt((len(left) - 1) * np.var(left))
    if 1 < chains < 20:
        whole = kept.reshape(parts * length, chains)
        left = [np.delete(whole, one, 1).var() for one in range(chains)]
        expected = max(expected, math.sqrt((chains - 1) * np.var(left)))
    assert error == pytest.approx(expected)


def test_few_chains_that_do_not_mix_have_an_error_as_large_as_their_differences() -> None:
    """Four chains, each in one of two modes: cut into blocks they look like twenty independent draws."""
    random = np.random.default_rng(1)
    runs = [random.choice([-1.0, 1.0], 4) + 0.1 * random.normal(size=(50, 4)) for _ in range(400)]
    found = np.array([jackknife(each[None], lambda means: means[0]) for each in runs])
    spread = found[:, 0].std()
    assert spread == pytest.approx(0.5, abs=0.06)
    assert found[:, 1].mean() == pytest.approx(spread, rel=0.25)


def test_chains_that_stand_still_have_no_error_and_no_deviation() -> None:
    draws = random_draws(SMALL, 1, seeds=1, chains=2).expand(50, 1, 2, 6)
    found = measure(context(SMALL, 1, 2), [Energy], draws[:, :, :1].expand(50, 1, 2, 6)).result()
    assert float(found["energy_error"]) == 0.0
    assert math.isnan(float(found["energy_deviation"]))


def test_a_run_that_is_too_short_has_no_error() -> None:
    value, error = jackknife(np.ones((1, 3, 1)), lambda means: means[0])
    assert value == 1.0
    assert math.isnan(error)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_errors_are_the_deviations_of_repeated_runs(metric: type[Metric]) -> None:
    """Of 400 runs of exact draws: the mean square deviation over the mean square error is 1 within 0.35.

    Its own deviation is about sqrt(2 / 400) = 0.07, so that the band is 5 of them: false alarm 6e-7.
    """
    target = LogQuadratic("binary", 6, instance_seed=2)
    draws = target.sample((20, 400, 25), Streams(range(400), "chain"))
    found = measure(context(target, 400, 25), [metric], draws).result()
    assert abs(float(found[f"{metric.name}_deviation"].square().mean()) - 1) < 0.35


def test_overlaps_are_those_of_all_pairs_of_chains() -> None:
    target = Ising(size=[2, 3], disorder="gaussian")
    draws = random_draws(target, 12, seeds=2, chains=5)
    found = measure(context(target, 2, 5), [Overlap], draws).result()
    for seed in range(2):
        spins = 2 * draws[:, seed] - 1
        overlaps = [float((s[a] * s[a + 2]).mean()) for s in spins for a in range(2)]
        size = [abs(q) for q in overlaps]
        assert float(found["overlap"][seed]) == pytest.approx(np.mean(size))
        assert float(found["overlap_square"][seed]) == pytest.approx(np.mean(np.square(overlaps)))
        ratio = np.mean(np.power(overlaps, 4)) / np.mean(np.square(overlaps)) ** 2
        assert float(found["overlap_binder"][seed]) == pytest.approx((3 - ratio) / 2)
        # On six sites |q| is 0, 1/3, 2/3 or 1.
        counted = [0.0] * 20
        for q in overlaps:
            bins = {0: (9, 10), 1: (13,), 2: (16,), 3: (19,)}[round(abs(q) * 3)]
            for bin in bins:
                counted[bin if q > 0 else 19 - bin] += 1 / len(bins)
        shares = [float(found[f"overlap_bin_{bin}"][seed]) * 24 for bin in range(20)]
        assert shares == pytest.approx(counted)
        asymmetry = sum(abs(one - other) for one, other in zip(counted, counted[::-1], strict=True)) / 48
        assert float(found["overlap_asymmetry"][seed]) == pytest.approx(asymmetry)
        assert asymmetry > 0


def test_the_overlap_of_exact_draws_has_the_distribution_of_all_pairs_of_states() -> None:
    """Shares of 40,000 pairs within 5 standard errors: false alarm 6e-7 a share."""
    target = LogQuadratic("binary", 5, instance_seed=3, roughness=1.5)
    spins, weights = 2 * target.space.states() - 1, target.probabilities()
    shares = np.zeros(20)
    for one, other in itertools.product(range(32), repeat=2):
        q = float((spins[one] * spins[other]).mean())  # never 0: there are five spins
        above = 10 + min(9, int(abs(q) * 10 + 1e-9))
        shares[above if q > 0 else 19 - above] += float(weights[one] * weights[other])
    draws = target.sample((200, 1, 400), Streams([1], "chain"))
    found = measure(context(target, 1, 400), [Overlap], draws).result()
    for place, share in enumerate(shares):
        assert abs(float(found[f"overlap_bin_{place}"]) - share) <= 5 * math.sqrt(share * (1 - share) / 4e4)


def test_identical_replicas_overlap_fully() -> None:
    values = of_seed(np.ones((40, 3)))
    assert (values["overlap"], values["overlap_binder"], values["overlap_bin_19"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "target", [FactorialHMM(length=4, chains=2), LetterInfilling(length=10, masked=0.2)], ids=type
)
def test_posteriors_of_sequences_have_exact_energies_too(target: Target) -> None:
    states = target.space.states()
    energy = target.log_prob(states)
    found = measure(context(target, 1, 4), [Energy], random_draws(target, 30, 1, 4)).result()
    expected = float(target.probabilities() @ energy) / target.space.d
    assert float(found["energy_exact"]) == pytest.approx(expected, abs=1e-10)
