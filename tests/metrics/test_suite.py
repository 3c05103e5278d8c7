"""The suite, and what every metric promises: merging, saving, and numbers that no other seed changes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from metrics.applications.predictive import PredictiveLogLikelihood, PredictiveRMSE, ValidationRMSE
from metrics.applications.tour_cost import TourCost
from metrics.applications.tour_mismatch import TourMismatch
from metrics.discrepancy.emc import EMC, EMCPerSample
from metrics.discrepancy.kl import KL, KLClipped
from metrics.discrepancy.log_mmd import LogMMD
from metrics.discrepancy.log_mmd_slice import LogMMDSlice
from metrics.discrepancy.mmd import MMD, MMDExact
from metrics.discrepancy.mmd_unshared_features import MMDUnsharedFeatures
from metrics.discrepancy.tv import TV, LogMeanGap
from metrics.landscape.flat_mass import FlatMass
from metrics.landscape.flatness import Flatness
from metrics.landscape.hessian_spectrum import HessianSpectrum
from metrics.landscape.local_entropy import LocalEntropy
from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.mixing.autocorrelation import AutocorrelationTime, AutocorrelationTimeMagnetisation
from metrics.mixing.auxiliary_density import AuxiliaryDensity
from metrics.mixing.auxiliary_distance import AuxiliaryDistance
from metrics.mixing.diagnostics import ESS, ESSMagnetisation, ESSMode, RHat, RHatMagnetisation, RHatMode
from metrics.mixing.level_occupancy import LevelOccupancy
from metrics.mixing.mean_norm import MeanNorm
from metrics.mixing.round_trips import RoundTrips
from metrics.mixing.step_means import Acceptance, Jump
from metrics.mixing.swaps import Barrier, SwapRate
from metrics.optimisation.best_state import BestLogProb
from metrics.physics.overlap import Overlap
from metrics.physics.thermodynamics import BinderCumulant, Energy, Magnetisation, SpecificHeat
from metrics.statistics.thinned_draws import ThinnedDraws
from metrics.statistics.visit_histogram import VisitHistogram
from metrics.suite import MetricSuite
from samplers import EDMALA, Gibbs, Info, SimulatedTempering, TourSwap
from samplers.proposals.entropic_langevin import THETA_A
from targets import RBM, TSP, Bernoulli4, BinaryBNN, GaussianMixture, Ising, MixtureOfGaussians, Target
from tests.support.measuring import (
    Ladder,
    Run,
    context,
    counted,
    measure,
    noisy_infos,
    random_draws,
    silent,
    walk,
)
from tests.support.targets.modes import Bare, Unlisted, corners
from tests.support.targets.small_tables import made_up


class Farthest(Metric):
    """A metric with a state of its own, as a user may write one: the largest first coordinate seen."""

    name = "farthest"
    unit = "levels"
    direction = "max"
    saved = ("largest", "steps")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.largest = torch.zeros(context.seeds, dtype=torch.float64)
        self.steps = 0

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        torch.maximum(self.largest, theta[..., 0].amax(1).double(), out=self.largest)
        self.steps += 1

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.largest + self.steps}

    def merge(self, other: Self) -> None:
        torch.maximum(self.largest, other.largest, out=self.largest)
        self.steps += other.steps


LISTED = [KL, KLClipped, TV, MMD, MMDExact, MMDUnsharedFeatures]
MODED = [EMC, EMCPerSample, ESSMode, RHatMode]
TEMPERED = [SwapRate, RoundTrips, Barrier]
ALWAYS = [ESS, RHat, Acceptance, Jump, Farthest]
ALL = [*LISTED, *MODED, *TEMPERED, *ALWAYS]
STEPS, SEEDS, CHAINS, REPLICAS = 60, 3, 5, 4


def plain(target: Target, metrics: list[Any], source: Target | None = None) -> Run:
    infos = noisy_infos(STEPS, SEEDS, CHAINS, REPLICAS)
    return Run(target, metrics, random_draws(source or target, STEPS, SEEDS, CHAINS), infos)


def unlisted() -> Run:
    table = corners()
    return plain(Unlisted(table), [*MODED, *TEMPERED, *ALWAYS], table)


def images() -> Run:
    """An RBM with 31 and 27 reference draws."""
    rbm = RBM(9, 4).double().requires_grad_(False)
    mean = torch.linspace(0.2, 0.7, 9, dtype=torch.float64)
    rows = torch.rand(58 + 43 * 18, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    bits = (rows < mean).double()
    rbm.reference, rbm.held_out = bits[:31], bits[31:58]
    log_mmd = partial(LogMMD, every=4, window=5, references=20, share=0.3)
    sliced = partial(LogMMDSlice, draws=8, references=20)
    return Run(rbm, [log_mmd, sliced, Flatness], bits[58:].reshape(43, 3, 6, 9))


def tours(cities: int) -> Run:
    target = TSP(cities)
    return Run(target, [TourCost, TourMismatch], walk(TourSwap(), target, steps=20, seeds=2, chains=3))


def networks() -> Run:
    target = BinaryBNN(made_up(distinct=15), 3)
    metrics = [partial(kind, every=4) for kind in (PredictiveRMSE, ValidationRMSE, PredictiveLogLikelihood)]
    return Run(target, metrics, random_draws(target, 23, 2, 3))


def levels(target: Target, metrics: list[Any]) -> Run:
    kernel = SimulatedTempering(Gibbs(), [1.0, 0.5, 0.0], log_partition=[0.0, 0.0, 0.0])
    drawn = torch.randint(0, 3, (30, 2, 5), generator=torch.Generator().manual_seed(1))
    drawn[0, :, 0] = 0
    infos = [replace(silent(2, 5), level=level) for level in drawn]
    return Run(target, metrics, random_draws(target, 30, 2, 5), infos, kernel)


def entropic() -> Run:
    draws = random_draws(Bernoulli4(), 20, 2, 5)
    noise = torch.randn(draws.shape, generator=torch.Generator().manual_seed(1), dtype=draws.dtype)
    infos = [replace(silent(2, 5), aux={THETA_A: theta_a}) for theta_a in draws + 0.7 * noise]
    metrics = [partial(AuxiliaryDensity, low=-1.0, bins=7), AuxiliaryDistance]
    return Run(Bernoulli4(), metrics, draws, infos, EDMALA(1.0, 0.49))


def reals() -> Run:
    target = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]]).double()
    return levels(target, [partial(MeanNorm, threshold=0.8, every=2)])


PHYSICS = [Energy, SpecificHeat, Magnetisation, BinderCumulant, Overlap, ESSMagnetisation, RHatMagnetisation]
PHYSICS += [AutocorrelationTime, AutocorrelationTimeMagnetisation]
LANDSCAPE = [FlatMass, Flatness, HessianSpectrum, LocalEntropy, LogMeanGap]
RUNS: dict[str, Callable[[], Run]] = {
    "listed": lambda: plain(corners(), ALL),
    "unlisted": unlisted,
    "landscape": lambda: plain(Bernoulli4(), LANDSCAPE),
    "physics": lambda: plain(Ising(size=[2, 3], field=0.1), PHYSICS),
    "images": images,
    "tours, few": lambda: tours(6),
    "tours, many": lambda: tours(11),
    "networks": networks,
    "levels": lambda: levels(Bernoulli4(), [LevelOccupancy, TV, KL, KLClipped]),
    "reals": reals,
    "entropic": entropic,
    "float32": lambda: plain(corners(dtype=torch.float32), ALL),
    "grid": lambda: plain(MixtureOfGaussians(8), ALL),
}
TYPICAL = [name for name in RUNS if name not in ("float32", "grid")]
CUTS = (0, 1, 3, 4, 13, 17, 18, 41, None)


def assert_same(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], place: slice = slice(None)
) -> None:
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        assert torch.equal(value.nan_to_num(-1), wanted[name][place].nan_to_num(-1)), name


@pytest.mark.parametrize("batch", [(40,), (2, 7), (40, 2), (1, 2, 40)])
def test_draws_of_another_shape_are_refused(batch: tuple[int, ...]) -> None:
    target = Bernoulli4()
    suite = MetricSuite(Context(target, Gibbs(), 2, 40, torch.device("cpu")), {"tv": TV})
    ones = torch.ones(batch)
    theta = target.initial(batch, torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=r"^the draws must have the shape .*, which is \(2, 40, 4\), \("):
        suite.update(1, theta, Info(ones, ones, 1))


@pytest.mark.parametrize(
    ("target", "wrong"),
    [(Bernoulli4(), lambda bits: 2.0 * bits - 1.0), (Ising(size=3), lambda bits: torch.nan * bits)],
)
def test_draws_that_are_no_states_are_refused(target: Target, wrong: Callable[[Tensor], Tensor]) -> None:
    """Spins of -1 and 1 had another magnetisation and energy, or an index of another state."""
    suite = MetricSuite(context(target, seeds=2, chains=3), {"tv": TV})
    bits = target.initial((2, 3), torch.Generator().manual_seed(0))
    said = r"^the draws must be states of Binary\(d=\d, levels=2\), \[(-1.0|nan|1.0), .*\] is among them$"
    with pytest.raises(ValueError, match=said):
        suite.update(1, wrong(bits), silent(2, 3))
    assert suite.updates == 0
    suite.update(1, bits, silent(2, 3))


def test_what_builds_no_metric_is_named() -> None:
    with pytest.raises(TypeError, match=r"^what builds mine must give a metrics.Metric, it gave 3$"):
        MetricSuite(context(Bernoulli4()), {"mine": lambda context: 3})  # type: ignore[dict-item, return-value]


def test_names_and_directions_are_declared() -> None:
    names = [metric.name for metric in ALL]
    assert len(set(names)) == len(names)
    assert all(metric.direction in ("min", "max", None) and metric.unit for metric in ALL)


@pytest.mark.parametrize("name", ["listed", "unlisted"])
def test_every_value_is_one_finite_double_per_seed(name: str) -> None:
    run = RUNS[name]()
    result = run.fed().result()
    assert {metric.name for metric in run.metrics} <= set(result)
    for key, value in result.items():
        assert value.shape == (SEEDS,), key
        assert value.dtype == torch.float64, key
        assert value.isfinite().all(), key


@pytest.mark.parametrize("name", [name for name in TYPICAL if name != "reals"])
def test_merge_equals_one_pass(name: str) -> None:
    run = RUNS[name]()
    whole, first = run.fed().result(), run.fed(0, CUTS[1])
    for start, end in pairwise(CUTS[1:]):
        first.merge(run.fed(start, end))
    for key, value in first.result().items():
        torch.testing.assert_close(value, whole[key], rtol=1e-12, atol=1e-14, equal_nan=True, msg=key)


@pytest.mark.parametrize("name", TYPICAL)
@pytest.mark.parametrize("cut", [2, 17])
def test_a_saved_suite_continues_with_the_same_bits(name: str, cut: int) -> None:
    run = RUNS[name]()
    first = run.fed(0, cut)
    early = {key: value.clone() for key, value in first.result().items()}
    state, stream = first.state_dict(), io.BytesIO()
    run.go_on(first, 0, 12)  # must not change what was saved
    torch.save(state, stream)
    stream.seek(0)
    second = run.fed(0, 0)
    second.load_state_dict(torch.load(stream, weights_only=True))
    assert_same(second.result(), early)
    run.go_on(second, cut)
    assert_same(second.result(), run.fed().result())


@pytest.mark.parametrize("name", RUNS)
def test_a_seed_has_the_same_bits_alone_and_among_others(name: str) -> None:
    run = RUNS[name]()
    together = run.fed().result()
    for seed in range(run.draws.shape[1]):
        own = slice(seed, seed + 1)
        assert_same(run.fed(seeds=own).result(), together, own)


def test_a_full_histogram_has_the_same_bits_alone_and_among_others() -> None:
    """Thousands of terms a sum: a batched product with a vector already rounds differently here."""
    target, metrics = MixtureOfGaussians(8), [*LISTED, EMC, EMCPerSample]
    counts = torch.randint(1, 100, (3, 101 * 101), generator=torch.Generator().manual_seed(0))
    counts[:, 0] += 10**6 - counts.sum(-1)

    def result(seeds: tuple[int, ...]) -> dict[str, Tensor]:
        run = context(target, len(seeds), 10**6, seed_values=seeds)
        return counted(run, metrics, counts[list(seeds)]).result()

    together = result((0, 1, 2))
    for seed in range(3):
        assert_same(result((seed,)), together, slice(seed, seed + 1))


def test_shared_statistics_are_updated_once_a_step() -> None:
    run = context(corners(), 1, 1)
    measure(run, [KL, TV, MMD, EMC], random_draws(corners(), 10, 1, 1))
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


@pytest.mark.parametrize("name", TYPICAL)
def test_updates_do_not_leave_the_device(name: str) -> None:
    run = RUNS[name]()
    suite = run.fed(0, 1)
    with NoHostSync():
        run.go_on(suite, 1)
        with pytest.raises(AssertionError, match="_local_scalar_dense"):
            run.draws[0].sum().item()


def test_updates_use_no_random_numbers_and_no_gradients() -> None:
    before = torch.get_rng_state()
    run = RUNS["listed"]()
    run.target.table.requires_grad_(True)
    suite = run.fed()
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
    suite = MetricSuite(context(Bare(), 1, 2), factories(*ALL), optional=True)
    assert set(suite.metrics) == {metric.name for metric in ALWAYS}
    assert suite.left_out["emc"] == "emc needs a target with known modes; Bare has none"
    assert suite.left_out["barrier"] == "barrier needs a kernel with replicas that swap; Ladder has none"
    suite.update(1, random_draws(Bare(), 1, 1, 2)[0], silent(1, 2))
    assert set(suite.result()) == {metric.name for metric in ALWAYS}
    with pytest.raises(UnsupportedMetric, match="emc needs a target with known modes; Bare has none"):
        MetricSuite(context(Bare()), factories(KL, EMC, ESS), optional=["kl"])


class Scheduled(Ladder):
    draws_target = False


def test_without_draws_from_the_target_only_what_needs_none_is_measured() -> None:
    made = replace(context(corners(), 1, 2), kernel=Scheduled())
    suite = MetricSuite(made, factories(KL, ESS, Acceptance, Jump, BestLogProb), optional=True)
    assert set(suite.metrics) == {"acceptance", "jump", "best_log_prob"}
    assert suite.undrawn == list(suite.left_out) == ["kl", "ess"]
    with pytest.raises(UnsupportedMetric, match=r"^ess needs draws from the target; the states of Scheduled"):
        MetricSuite(made, factories(ESS))


def test_a_metric_that_fails_late_leaves_no_statistic_behind() -> None:
    class Late(Farthest):
        def __init__(self, context: Context) -> None:
            super().__init__(context)
            context.statistic(VisitHistogram)
            raise UnsupportedMetric("late needs more")

    run = context(corners())
    suite = MetricSuite(run, {"late": Late, "ess": ESS}, optional=True)
    assert suite.left_out == {"late": "late needs more"}
    assert not any("VisitHistogram" in key for key in run.statistics)


class Scalar(Farthest):
    def result(self) -> dict[str, Tensor]:
        return {"scalar": self.largest.sum()}


@pytest.mark.parametrize(
    ("metrics", "steps", "words"),
    [
        ([TV], 0, "the metrics have no draws: no step was taken after the burn-in"),
        ([TV, TV], 1, "the metrics 0 and 1 both give a value named tv"),
        ([Scalar], 1, r"the metric 0 must give one number per seed \(2\), scalar has the shape \(\)"),
    ],
)
def test_results_that_make_no_sense_are_refused(metrics: list[type[Metric]], steps: int, words: str) -> None:
    suite = measure(context(corners(), 2, 1), metrics, random_draws(corners(), steps, 2, 1))
    with pytest.raises(ValueError, match=words):
        suite.result()


def tv_suite(seeds: int = 1) -> MetricSuite:
    return MetricSuite(context(corners(), seeds, 4), {"0": TV})


def log_mmd_suite(window: int = 5) -> MetricSuite:
    return MetricSuite(context(images().target, 3, 6), {"0": partial(LogMMD, window=window)})


def slice_suite(seeds: int = 3, draws: int = 8) -> MetricSuite:
    run = images()
    suite = MetricSuite(context(run.target, seeds, 6), {"0": partial(LogMMDSlice, draws=8)})
    for step in range(5, 16, 5) if seeds == 3 else ():
        suite.update(step, run.draws[step], silent(seeds, 6))
    return suite


def norm_suite(chains: int = 4) -> MetricSuite:
    return MetricSuite(context(reals().target, 2, chains), {"0": MeanNorm})


def tour_suite(cities: int) -> MetricSuite:
    return MetricSuite(context(TSP(cities), 2, 3), {"0": TourCost})


def bits_suite(chains: int = 3) -> MetricSuite:
    thinned = partial(ThinnedDraws, most=1, burn_in=0, steps=5)
    return MetricSuite(context(RBM(13, 2).float(), 2, chains), {"0": thinned})


@pytest.mark.parametrize(
    ("saved", "other", "words"),
    [
        (tv_suite(), lambda: MetricSuite(context(corners(), 1, 4), factories(TV, ESS)), "the checkpoint"),
        (tv_suite(), lambda: tv_suite(2), r"counts must have the shape \(2, 25\), \(1, 25\) was saved"),
        (log_mmd_suite(), lambda: log_mmd_suite(6), r"ring must have the shape \(3, 2, 6\), \(3, 2, 5\) was"),
        (slice_suite(), lambda: slice_suite(2), r"at most 8 rows of the shape \(2, 9\), \(3, 3, 9\)"),
        (norm_suite(), lambda: norm_suite(3), r"totals must have the shape \(2, 3, 4\), \(2, 4, 4\)"),
        (tour_suite(11), lambda: tour_suite(10), r"places must have the shape \(2, 10, 10\), \(2, 11, 11\)"),
        (bits_suite(), lambda: bits_suite(4), r"at most 1 rows of the shape \(2, 4, 2\), \(0, 2, 3, 2\)"),
    ],
)
def test_the_state_of_another_is_refused(
    saved: MetricSuite, other: Callable[[], MetricSuite], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        other().load_state_dict(saved.state_dict())


def test_a_running_mean_is_not_merged_from_parts() -> None:
    with pytest.raises(ValueError, match="mean_norm follows a running mean and cannot be merged"):
        norm_suite().merge(norm_suite())


def test_seed_values_fit_the_seeds() -> None:
    with pytest.raises(ValueError, match="seed_values must name 2 seeds, 1 were given"):
        context(corners(), 2, 1, seed_values=(1,))
