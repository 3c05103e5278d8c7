"""The suite: shared statistics once, needs, merging, saving, and numbers that owe nothing to the company."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Self

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from metrics.discrepancy.emc import EMC, EMCPerSample
from metrics.discrepancy.kl import KL, KLClipped
from metrics.discrepancy.mmd import MMD, MMDExact
from metrics.discrepancy.mmd_unshared_features import MMDUnsharedFeatures
from metrics.discrepancy.tv import TV
from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.mixing.diagnostics import ESS, ESSMode, RHat, RHatMode
from metrics.mixing.round_trips import RoundTrips
from metrics.mixing.step_means import Acceptance, Jump
from metrics.mixing.swaps import Barrier, SwapRate
from metrics.statistics.visit_histogram import VisitHistogram
from metrics.suite import MetricSuite
from samplers.kernel import Info
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.target import Target
from tests.support.measuring import context, counted, measure, noisy_infos, random_draws, silent
from tests.support.targets import Bare, Unlisted, corners


class Farthest(Metric):
    """A metric with a state of its own, as a user may write one: the largest first coordinate seen."""

    name = "farthest"
    unit = "levels"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.largest = torch.zeros(context.seeds, dtype=torch.float64)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        torch.maximum(self.largest, theta[..., 0].amax(1).double(), out=self.largest)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.largest}

    def merge(self, other: Self) -> None:
        torch.maximum(self.largest, other.largest, out=self.largest)

    def state_dict(self) -> dict[str, Any]:
        return {"largest": self.largest.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.largest.copy_(state["largest"])


LISTED = [KL, KLClipped, TV, MMD, MMDExact, MMDUnsharedFeatures]
MODED = [EMC, EMCPerSample, ESSMode, RHatMode]
TEMPERED = [SwapRate, RoundTrips, Barrier]
ALWAYS = [ESS, RHat, Acceptance, Jump, Farthest]
ALL = [*LISTED, *MODED, *TEMPERED, *ALWAYS]
STEPS, SEEDS, CHAINS, REPLICAS = 60, 3, 5, 4


@pytest.fixture(params=["listed", "unlisted"])
def case(request: pytest.FixtureRequest) -> tuple[Target, list[type[Metric]]]:
    table = corners()
    return (table, ALL) if request.param == "listed" else (Unlisted(table), [*MODED, *TEMPERED, *ALWAYS])


def run_of(target: Target, seed_values: tuple[int, ...] = (3, 4, 9)) -> Context:
    return context(target, len(seed_values), CHAINS, REPLICAS, seed_values=seed_values)


def data() -> tuple[Tensor, list[Info]]:
    return random_draws(corners(), STEPS, SEEDS, CHAINS), noisy_infos(STEPS, SEEDS, CHAINS, REPLICAS)


def test_names_and_directions_are_declared() -> None:
    names = [metric.name for metric in ALL]
    assert len(set(names)) == len(names)
    assert all(metric.direction in ("min", "max", None) and metric.unit for metric in ALL)


def test_every_value_is_one_finite_double_per_seed(case) -> None:
    target, metrics = case
    draws, infos = data()
    result = measure(run_of(target), metrics, draws, infos).result()
    assert {metric.name for metric in metrics} <= set(result)
    for name, value in result.items():
        assert value.shape == (SEEDS,), name
        assert value.dtype == torch.float64, name
        assert value.isfinite().all(), name


def test_merge_equals_one_pass(case) -> None:
    target, metrics = case
    draws, infos = data()
    whole = measure(run_of(target), metrics, draws, infos).result()
    first = measure(run_of(target), metrics, draws[:17], infos[:17])
    for start, end in ((17, 18), (18, 60)):
        later = measure(run_of(target), metrics, draws[start:end], infos[start:end], first_step=start + 1)
        first.merge(later)
    for name, value in first.result().items():
        torch.testing.assert_close(value, whole[name], rtol=1e-12, atol=1e-14, msg=name)


def test_a_saved_suite_continues_with_the_same_bits(case) -> None:
    target, metrics = case
    draws, infos = data()
    whole = measure(run_of(target), metrics, draws, infos)
    first = measure(run_of(target), metrics, draws[:23], infos[:23])
    state, stream = first.state_dict(), io.BytesIO()
    first.update(24, draws[0], infos[0])  # what was taken down stays as it was
    torch.save(state, stream)
    stream.seek(0)
    second = measure(run_of(target), metrics, draws[:0])
    second.load_state_dict(torch.load(stream, weights_only=True))
    early = measure(run_of(target), metrics, draws[:23], infos[:23]).result()
    assert all(torch.equal(value, early[name]) for name, value in second.result().items())
    for place in range(23, STEPS):
        second.update(place + 1, draws[place], infos[place])
    for name, value in second.result().items():
        assert torch.equal(value, whole.result()[name]), name


@pytest.mark.parametrize(
    "target", [corners(), corners(dtype=torch.float32), Unlisted(corners()), MixtureOfGaussians(8)]
)
def test_a_seed_has_the_same_bits_alone_and_in_company(target: Target) -> None:
    seed_values = (3, 4, 9)
    metrics = [*MODED, *TEMPERED, *ALWAYS] if isinstance(target, Unlisted) else ALL
    source = corners() if isinstance(target, Unlisted) else target
    draws, infos = random_draws(source, STEPS, SEEDS, CHAINS), noisy_infos(STEPS, SEEDS, CHAINS, REPLICAS)
    together = measure(run_of(target, seed_values), metrics, draws, infos).result()
    for place, value in enumerate(seed_values):
        own = slice(place, place + 1)
        alone = [
            Info(
                info.acceptance[own],
                info.jump[own],
                1,
                type(info.swap)(
                    info.swap.probability[:, own],
                    info.swap.attempted[:, own],
                    info.swap.accepted[:, own],
                    info.swap.replica[:, own],
                ),
            )
            for info in infos
        ]
        result = measure(run_of(target, (value,)), metrics, draws[:, own], alone).result()
        for name in together:
            assert torch.equal(result[name], together[name][own]), name


def test_a_full_histogram_has_the_same_bits_alone_and_in_company() -> None:
    """Thousands of terms a sum: a batched product with a vector already rounds differently here."""
    target, metrics = MixtureOfGaussians(8), [*LISTED, EMC, EMCPerSample]
    counts = torch.randint(1, 100, (3, 101 * 101), generator=torch.Generator().manual_seed(0))
    counts[:, 0] += 10**6 - counts.sum(-1)

    def result(seeds: tuple[int, ...]) -> dict[str, Tensor]:
        run = context(target, len(seeds), 10**6, seed_values=seeds)
        return counted(run, metrics, counts[list(seeds)]).result()

    together = result((0, 1, 2))
    for seed in range(3):
        for name, value in result((seed,)).items():
            assert torch.equal(value, together[name][seed : seed + 1]), name


def test_shared_statistics_are_updated_once_a_step() -> None:
    run = context(corners(), 1, 1)
    draws = random_draws(corners(), 10, 1, 1)
    measure(run, [KL, TV, MMD, EMC], draws)
    visits = run.statistic(VisitHistogram)
    assert visits.counts.sum().item() == visits.steps == 10
    assert len(run.statistics) == 2


class NoHostSync(TorchDispatchMode):
    """Refuses every operation that would make a GPU wait for the host."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        if any(part in name for part in ("_local_scalar_dense", "nonzero", "is_nonzero", "equal.default")):
            raise AssertionError(f"an update called {name}")
        return function(*args, **(kwargs or {}))


def test_updates_do_not_leave_the_device(case) -> None:
    target, metrics = case
    draws, infos = data()
    suite = measure(run_of(target), metrics, draws[:1], infos[:1])
    with NoHostSync():
        for place in range(1, STEPS):
            suite.update(place + 1, draws[place], infos[place])
        with pytest.raises(AssertionError, match="_local_scalar_dense"):
            draws[0, 0, 0, 0].item()


def test_updates_use_no_random_numbers_and_no_gradients() -> None:
    before = torch.get_rng_state()
    draws, infos = data()
    target = corners()
    target.table.requires_grad_(True)
    suite = measure(run_of(target), ALL, draws, infos)
    assert not any(value.requires_grad for value in suite.result().values())
    assert not any(value.requires_grad for value in tensors(suite.state_dict()))
    assert torch.equal(torch.get_rng_state(), before)


def tensors(state: Any) -> list[Tensor]:
    """All tensors in nested dictionaries."""
    if isinstance(state, Mapping):
        return [tensor for part in state.values() for tensor in tensors(part)]
    return [state] if isinstance(state, Tensor) else []


def factories(*metrics: type[Metric]) -> dict[str, type[Metric]]:
    return {metric.name: metric for metric in metrics}


def test_optional_metrics_with_unmet_needs_are_left_out_with_a_reason() -> None:
    run = context(Bare(), 1, 2)
    suite = MetricSuite(run, factories(*ALL), optional=True)
    assert set(suite.metrics) == {metric.name for metric in ALWAYS}
    assert suite.left_out["emc"] == "emc needs a target with known modes; Bare has none"
    assert suite.left_out["barrier"] == "barrier needs a kernel with replicas that swap; Ladder has none"
    suite.update(1, random_draws(Bare(), 1, 1, 2)[0], silent(1, 2))
    assert set(suite.result()) == {metric.name for metric in ALWAYS}


def test_a_metric_that_is_not_optional_must_be_served() -> None:
    with pytest.raises(UnsupportedMetric, match="emc needs a target with known modes; Bare has none"):
        MetricSuite(context(Bare()), factories(KL, EMC, ESS), optional=["kl"])


def test_a_metric_that_fails_late_leaves_no_statistic_behind() -> None:
    class Late(Metric):
        name, unit = "late", "none"

        def __init__(self, context: Context) -> None:
            super().__init__(context)
            context.statistic(VisitHistogram)
            raise UnsupportedMetric("late needs more")

        def result(self) -> dict[str, Tensor]:
            return {}

    run = context(corners())
    suite = MetricSuite(run, {"late": Late, "ess": ESS}, optional=True)
    assert suite.left_out == {"late": "late needs more"}
    assert not any("VisitHistogram" in key for key in run.statistics)


def test_a_result_before_the_first_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="the metrics have no draws: no step was taken after the burn-in"):
        MetricSuite(context(corners()), factories(TV)).result()


def test_two_values_of_one_name_are_refused() -> None:
    target = corners()
    suite = measure(context(target, 1, 1), [TV, TV], random_draws(target, 1, 1, 1))
    with pytest.raises(ValueError, match="the metric 1 gives a value named tv, as another metric does"):
        suite.result()


def test_a_value_of_the_wrong_shape_is_refused() -> None:
    class Scalar(Farthest):
        def result(self) -> dict[str, Tensor]:
            return {"scalar": self.largest.sum()}

    target = corners()
    suite = measure(context(target, 2, 1), [Scalar], random_draws(target, 1, 2, 1))
    with pytest.raises(ValueError, match=r"must give one number per seed \(2\), scalar has the shape \(\)"):
        suite.result()


def test_a_checkpoint_of_other_metrics_or_another_size_is_refused() -> None:
    target = corners()
    saved = measure(context(target, 1, 4), [TV], random_draws(target, 2, 1, 4)).state_dict()
    with pytest.raises(ValueError, match="the checkpoint measures"):
        MetricSuite(context(target, 1, 4), factories(TV, ESS)).load_state_dict(saved)
    with pytest.raises(ValueError, match=r"counts must have the shape \(2, 25\), \(1, 25\) was saved"):
        MetricSuite(context(target, 2, 4), {"0": TV}).load_state_dict(saved)


def test_seed_values_fit_the_seeds() -> None:
    with pytest.raises(ValueError, match="seed_values must name 2 seeds, 1 were given"):
        context(corners(), 2, 1, seed_values=(1,))
