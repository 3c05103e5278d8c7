"""Annealing of RBMs and of any target with any kernel: weights by hand, and what both promise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.nn.functional import softplus

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.annealed_target import AnnealedTarget
from metrics.likelihood.annealing import Annealing
from metrics.likelihood.importance_weights import Estimate, log_mean_weight
from metrics.likelihood.population_annealing import PopulationAnnealing
from metrics.likelihood.rbm_annealing import (
    RBMAnnealing,
    UntemperedRBMAnnealing,
    log_reference_partition,
    reference_draws,
)
from metrics.likelihood.target_annealing import TargetAnnealing
from samplers.cluster.swendsen_wang import SwendsenWang
from samplers.discrete.ab import AB
from samplers.discrete.acs import ACS
from samplers.discrete.block_gibbs import BlockGibbs
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.gwg import GWG
from samplers.discrete.hamming_ball import HammingBall
from samplers.discrete.random_walk import RandomWalk
from samplers.discrete.rbm_gibbs import RBMGibbs
from samplers.entropic.edmala import EDMALA
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets import RBM, Binary, Categorical, Discrete, Ising, Ordinal, Streams, Target
from targets.reference_distribution import reference_distribution
from tests.support.annealing import BlackBox, Continuous, FromMeans, Product, exact_draws, log_z, random_rbm
from tests.support.checks import dkw_band
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.targets.small_targets import Quadratic, random_target
from tests.support.tunable import tunable

KERNELS: dict[str, Callable[[], Kernel]] = {
    "dmala": lambda: DMALA(0.5),
    "acs": lambda: ACS(cycle_length=8, step_size=2.0, min_step_size=0.3, balancing=0.6),
    "ab": lambda: AB(0.5, 0.6),
    "gwg": GWG,
    "gibbs": Gibbs,
    "gibbs in turn": lambda: Gibbs("systematic"),
    "block_gibbs": lambda: BlockGibbs(2),
    "hamming_ball": lambda: HammingBall(4, 1),
}
"""Kernels that can anneal; a step size that is right for a dozen pixels."""

OWN: dict[str, type[RBMAnnealing]] = {"rbm": RBMAnnealing, "untempered rbm": UntemperedRBMAnnealing}
ALL = [*KERNELS, *OWN]
ONE_HOT = Categorical(3, 4)


def forward(
    name: str, target: Target, steps: int = 30, chains: int = 16, seeds: tuple[int, ...] = (0,)
) -> Annealing:
    """An annealing from the reference distribution that has not started."""
    streams = Streams(seeds, "walk")
    if name in OWN:
        rbm = target.hidden if isinstance(target, BlackBox) else target
        assert isinstance(rbm, RBM)
        return OWN[name](rbm, schedule(steps), reference_draws(rbm, chains, streams), streams)
    start = reference_distribution(target).draws((len(seeds), chains), streams, like=target.like())
    return TargetAnnealing(target, KERNELS[name](), schedule(steps), start, streams)


def reverse(name: str, target: Target, steps: int, start: Tensor, seed: int = 0) -> Annealing:
    """An annealing back from the states `start`."""
    betas, streams = schedule(steps).flip(0), Streams([seed], "walk")
    if name in OWN:
        return OWN[name](target.hidden, betas, start, streams)  # type: ignore[union-attr]
    return TargetAnnealing(target, KERNELS[name](), betas, start, streams)


def base_of(name: str, target: Target) -> float:
    """log Z of the distribution at beta = 0."""
    return log_reference_partition(target.hidden) if name == "rbm" else 0.0  # type: ignore[arg-type]


def finished(run: Annealing) -> Estimate:
    run.advance(run.steps)
    return log_mean_weight(run.log_weights)


def states_of(run: Annealing) -> Tensor:
    return run.visible if isinstance(run, RBMAnnealing) else run.theta  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "steps"),
    [("rbm", 1000), ("dmala", 200), *(pytest.param(n, 1000, marks=pytest.mark.slow) for n in [*KERNELS][1:])],
)
def test_log_z_of_12_pixels_is_that_of_enumeration(name: str, steps: int) -> None:
    """4 standard errors and a tenth of a nat; each way errs by 4 once in 16,000; the seeds are fixed."""
    target = BlackBox(random_rbm(12, 10, scale=0.7))
    base, exact = base_of(name, target), log_z(target)
    up = finished(forward(name, target, steps, 400)).shifted(base)
    down = finished(reverse(name, target, steps, exact_draws(target, 400, 1))).reversed(base)
    for found in (up, down):
        assert abs(found.value - exact) <= min(0.1, 4.0 * found.standard_error)
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("space", "name"), [(Ordinal(3, 4), "dmala"), (ONE_HOT, "gwg"), (ONE_HOT, "dmala"), (Binary(8), "gibbs")]
)
def test_other_spaces_anneal_from_the_uniform_distribution(space: Discrete, name: str) -> None:
    target = random_target(space, roughness=2.0)
    up = finished(forward(name, target, 300, 400))
    down = finished(reverse(name, target, 300, exact_draws(target, 400, 1))).reversed(0.0)
    for found in (up, down):
        assert abs(found.value - log_z(target)) <= min(0.1, 4.0 * found.standard_error)


@pytest.mark.parametrize(
    ("name", "steps"), [("rbm", 1), ("rbm", 2), ("dmala", 1), *((name, 3) for name in ("rbm", *KERNELS))]
)
def test_weights_are_unbiased_for_the_ratio_of_partition_functions(name: str, steps: int) -> None:
    """50,000 chains on few temperatures; the alarm rate at five standard errors is below 1e-6 a case."""
    target = random_target(Binary(4), seed=3, roughness=1.2)
    if name == "rbm":
        target = BlackBox(random_rbm(4, 3, scale=0.7))
    ratio = log_z(target) - base_of(name, target)
    for run, wanted in (
        (forward(name, target, steps, 50_000), ratio),
        (reverse(name, target, steps, exact_draws(target, 50_000, 4)), -ratio),
    ):
        run.advance(steps)
        weights = (run.log_weights.flatten() - wanted).exp()
        error = float(weights.std()) / len(weights) ** 0.5
        assert error < 0.03
        assert abs(float(weights.mean()) - 1.0) <= 5.0 * error


def test_the_released_estimator_has_the_limit_log_z_plus_the_divergence_from_the_reference() -> None:
    """Settings C: log Z + KL(p || p_0), with as many as 2,000 temperatures."""
    rbm = random_rbm(12, 8, scale=0.7, seed=5)
    states, mean = rbm.space.states(), rbm.data_mean
    log_p = rbm.log_prob(states) - log_z(rbm)
    log_base = states @ mean.logit() + torch.log1p(-mean).sum()
    divergence = float((log_p.exp() * (log_p - log_base)).sum())
    assert divergence > 2.0
    found = finished(forward("untempered rbm", rbm, 2_000, 100)).value
    assert abs(found - log_z(rbm) - divergence) <= 0.3


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.9, 1.0])
def test_a_block_gibbs_step_leaves_the_distribution_at_its_temperature_invariant(beta: float) -> None:
    rbm = random_rbm(3, 2, scale=1.0)
    states = rbm.space.states()
    pi, draws = tempered_log_prob(rbm, states, beta).softmax(-1), 100_000
    chosen = torch.multinomial(pi, draws, replacement=True, generator=torch.Generator().manual_seed(0))
    run = RBMAnnealing(rbm, schedule(2), states[chosen], torch.Generator().manual_seed(1))
    after = run._transition(rbm.hidden_logits(states[chosen]), beta)
    seen = torch.bincount(rbm.space.index(after), minlength=len(states)).double() / draws
    assert float((seen.cumsum(0) - pi.cumsum(0)).abs().max()) <= dkw_band(draws, 1)


def tempered_log_prob(rbm: RBM, theta: Tensor, beta: float) -> Tensor:
    """log p*_beta by its definition: log of the sum over h of the tempered joint."""
    bias = (1.0 - beta) * rbm.data_mean.logit() + beta * rbm.visible_bias
    return theta @ bias + softplus(beta * rbm.hidden_logits(theta)).sum(-1)


def test_log_weights_of_an_rbm_are_the_ratios_of_neighbouring_densities() -> None:
    rbm = random_rbm(9, 7, scale=1.0)
    run, other = forward("rbm", rbm, 6, seeds=(0, 1)), forward("untempered rbm", rbm, 6, seeds=(0, 1))
    total, averaged = torch.zeros(2, 2, 16, dtype=torch.float64)
    for before, after in pairwise(schedule(6).tolist()):
        theta = states_of(run)
        total += tempered_log_prob(rbm, theta, after) - tempered_log_prob(rbm, theta, before)
        theta = states_of(other)
        base = theta @ rbm.data_mean.logit() + torch.log1p(-rbm.data_mean).sum()
        averaged += (rbm.log_prob(theta) - base) / 6
        run.advance(1)
        other.advance(1)
    assert torch.allclose(run.log_weights, total, atol=1e-10, rtol=0)
    assert torch.allclose(other.log_weights, averaged, atol=1e-10, rtol=0)
    at_zero = tempered_log_prob(rbm, rbm.space.states(), 0.0).logsumexp(0)
    assert log_reference_partition(rbm) == pytest.approx(at_zero.item(), abs=1e-10)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("back", [False, True])
def test_an_annealing_is_that_written_out_with_an_evaluation_for_everything(name: str, back: bool) -> None:
    """Weights from U itself and a state made anew at each temperature, in step with the annealing."""
    target, steps = BlackBox(random_rbm(9, 7, scale=1.0)), 20
    start = exact_draws(target, 16, 1)
    run = reverse(name, target, steps, start) if back else forward(name, target, steps)
    assert isinstance(run, TargetAnnealing)
    kernel, streams = KERNELS[name](), Streams((0,), "walk")
    theta = start if back else reference_distribution(target).draws((1, 16), streams, like=target.like())
    one, pi = torch.ones((), dtype=torch.float64), reference_distribution(target)
    total, aux = torch.zeros(1, 16, dtype=torch.float64), None
    for number, (before, after) in enumerate(pairwise(run.betas)):
        total += (after - before) * (target.hidden.log_prob(theta) - pi.log_prob(theta))
        run.advance(1)
        assert torch.allclose(run.log_weights, total, atol=1e-10, rtol=0)
        if number + 1 < steps:
            path = AnnealedTarget(target, pi, after)
            state = kernel.init(path, theta, one)
            if aux is not None:
                state = type(state)(state.theta, state.log_prob, state.grad, aux)
            state, _ = kernel.step(path, state, one, streams)
            theta, aux = state.theta, state.aux
            assert torch.equal(run.theta, theta)
            assert torch.allclose(run.state.log_prob, state.log_prob, atol=1e-10, rtol=0)
            if state.grad is not None:
                assert run.state.grad is not None
                assert torch.allclose(run.state.grad, state.grad, atol=1e-10, rtol=0)
    assert run.step == run.steps == steps


def test_reference_distributions_are_normalised_and_the_path_is_the_mixture_of_its_ends() -> None:
    rbm = random_rbm(9, 4)
    pi, states = reference_distribution(rbm), rbm.space.states()
    brute = states @ rbm.data_mean.logit() + torch.log1p(-rbm.data_mean).sum()
    assert torch.allclose(pi.log_prob(states), brute, atol=1e-12, rtol=0)
    assert torch.equal(pi.grad(rbm.weight), rbm.data_mean.logit())
    drawn = pi.draws((2, 8), Streams([0, 1], "start"), like=rbm.like())
    assert torch.equal(drawn, reference_draws(rbm, 8, Streams([0, 1], "start")))
    uniform = [random_target(space) for space in (Ordinal(2, 5), Categorical(2, 3), Binary(4))]
    for target in (rbm, BlackBox(random_rbm(4, 3)), *uniform):
        assert isinstance(target.space, Discrete)
        pi, states = reference_distribution(target), target.space.states()
        assert float(pi.log_prob(states).logsumexp(0)) == pytest.approx(0.0, abs=1e-12)
        assert pi.log_prob(states[None, :3]).shape == (1, 3)
        base_grad = pi.grad(states)
        assert target not in uniform or float(base_grad) == 0.0
        path = AnnealedTarget(target, pi, 0.3)
        wanted = 0.7 * pi.log_prob(states) + 0.3 * target.log_prob(states)
        log_prob, grad = path.log_prob_and_grad(states)
        assert torch.allclose(path.log_prob(states), wanted, atol=1e-12, rtol=0)
        assert torch.allclose(log_prob, wanted, atol=1e-12, rtol=0)
        mixed = 0.7 * base_grad + 0.3 * target.log_prob_and_grad(states)[1]
        assert torch.allclose(grad, mixed, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("name", "each"), [("dmala", 1), ("acs", 1), ("gwg", 1), ("gibbs", 2)])
@pytest.mark.parametrize("back", [False, True])
def test_a_temperature_costs_what_a_step_of_the_kernel_costs(name: str, each: int, back: bool) -> None:
    target = BlackBox(random_rbm(9, 7))
    start = exact_draws(target, 8, 0)
    target.calls = 0
    run = reverse(name, target, 25, start) if back else forward(name, target, 25)
    run.advance(25)
    # Gibbs evaluates both levels in one call. The last step moves nothing, the initial states are evaluated.
    assert target.calls == 25
    assert run.evaluations == 1 + 24 * each  # type: ignore[attr-defined]


def test_temperatures_repeated_at_1_move_draws_and_change_no_weight() -> None:
    betas = torch.cat([torch.ones(10, dtype=torch.float64), schedule(20).flip(0)])
    start = torch.zeros(1, 8, 9, dtype=torch.float64)
    run = TargetAnnealing(BlackBox(random_rbm(9, 7)), DMALA(0.5), betas, start, Streams([0], "walk"))
    run.advance(10)
    assert (run.log_weights == 0).all()
    assert run.theta.any()
    run.advance(20)
    assert (run.log_weights != 0).all()
    assert run.step == 30


@pytest.mark.parametrize("name", ALL)
def test_a_seed_has_the_same_bits_alone_and_no_step_waits_for_the_device(name: str) -> None:
    target: Target = random_rbm(70, 50, scale=0.3).float() if name in OWN else Product(70, torch.float32)
    together, alone = forward(name, target, seeds=(4, 9, 2)), forward(name, target, seeds=(9,))
    with NoHostSync():
        together.advance(30)
    alone.advance(30)
    assert together.step == 30
    assert torch.equal(together.log_weights[1], alone.log_weights[0])
    assert torch.equal(states_of(together)[1], states_of(alone)[0])
    assert not torch.equal(together.log_weights[0], together.log_weights[1])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("stops", [[0], [1, 7], [29]])
def test_a_stopped_annealing_ends_with_the_same_bits(name: str, stops: list[int]) -> None:
    target = BlackBox(random_rbm(20, 12).float())
    whole, part = (forward(name, target, seeds=(1, 2)) for _ in range(2))
    whole.advance(1000)
    for stop in stops:
        part.advance(stop)
        saved = part.state_dict()
        part.advance(3)  # must not change what was saved
        part = forward(name, target, seeds=(1, 2))
        part.advance(2)
        part.load_state_dict(saved)
    part.advance(1000)
    assert part.step == whole.step == whole.steps == 30
    assert getattr(part, "evaluations", 0) == getattr(whole, "evaluations", 0)
    assert torch.equal(part.log_weights, whole.log_weights)
    assert torch.equal(states_of(part), states_of(whole))


class Overflowing(Target):
    """Half the number of ones, NaN from eight of ten on, which few chains propose."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Binary(10)

    def log_prob(self, theta: Tensor) -> Tensor:
        ones = theta.sum(-1)
        return (0.5 * ones).masked_fill(ones >= 8, torch.nan)


@pytest.mark.parametrize("kind", [TargetAnnealing, PopulationAnnealing])
def test_a_chain_that_met_nan_has_no_weight(kind: type[TargetAnnealing]) -> None:
    """It rejects such a state, so that log Z would be that of the others alone."""
    target, start = Overflowing(), torch.zeros(1, 50, 10)

    def begun() -> TargetAnnealing:
        return kind(target, RandomWalk(1), schedule(300), start, Streams([0], "walk"))

    whole, part, rest = begun(), begun(), begun()
    whole.advance(300)
    part.advance(299)
    assert bool(part.log_weights.isfinite().all())
    rest.load_state_dict(part.state_dict())
    rest.advance(1)
    met = whole.log_weights.isnan()
    assert bool(met.any())
    assert torch.equal(met, rest.log_weights.isnan())
    if isinstance(whole, PopulationAnnealing):
        assert bool(whole.log_partition().isnan())


def test_one_generator_instead_of_streams_is_saved_too() -> None:
    rbm, start = random_rbm(6, 4), torch.zeros(8, 6, dtype=torch.float64)
    target = BlackBox(rbm)

    def annealings() -> list[Annealing]:
        generators = [torch.Generator().manual_seed(seed) for seed in (1, 2)]
        own = RBMAnnealing(rbm, schedule(20), start, generators[0])
        return [own, TargetAnnealing(target, DMALA(0.5), schedule(20), start, generators[1])]

    for whole, part, rest in zip(annealings(), annealings(), annealings(), strict=True):
        whole.advance(20)
        part.advance(7)
        rest.load_state_dict(part.state_dict())
        rest.advance(20)
        assert torch.equal(rest.log_weights, whole.log_weights)


@pytest.mark.parametrize(
    ("name", "other", "steps", "seeds", "words"),
    [
        ("dmala", "dmala", 11, (0,), "other temperatures"),
        ("rbm", "rbm", 11, (0,), "other temperatures"),
        ("dmala", "gibbs", 10, (0,), "another kernel"),
        ("dmala", "dmala", 10, (0, 1), "theta must have the shape"),
        ("rbm", "rbm", 10, (0, 1), "visible must have the shape"),
    ],
)
def test_the_state_of_another_annealing_is_refused(
    name: str, other: str, steps: int, seeds: tuple[int, ...], words: str
) -> None:
    target = BlackBox(random_rbm(6, 4))
    saved = forward(name, target, 10).state_dict()
    with pytest.raises(ValueError, match=words):
        forward(other, target, steps, seeds=seeds).load_state_dict(saved)


@pytest.mark.parametrize("name", ["rbm", "dmala"])
def test_single_precision_costs_little(name: str) -> None:
    """Beside the same annealing in double precision, with the same random numbers up to their width."""
    rbm = random_rbm(60, 40, scale=0.2)
    exact = finished(forward(name, BlackBox(rbm), 400, 100))
    single = finished(forward(name, BlackBox(rbm.float()), 400, 100))
    assert abs(exact.value - single.value) <= 3 * (exact.standard_error + single.standard_error)


def test_a_chain_that_does_not_move_keeps_its_energy_to_rounding() -> None:
    """3,000 temperatures carry one evaluation of float32 along and lose none of its digits."""
    target = Product(50, torch.float32)
    start = reference_distribution(target).draws((1, 4), Streams((0,), "start"), like=target.like())
    run = TargetAnnealing(target, DMALA(1e-3), schedule(3_000), start, Streams((0,), "walk"))
    run.advance(3_000)
    assert torch.equal(run.theta, start), "the step size must be too small for a move"
    gap = target.log_prob(start).double() - run.path.base.log_prob(start)
    assert torch.allclose(run.log_weights, gap, rtol=0, atol=1e-9)
    assert run.state.grad is not None
    assert torch.allclose(run.state.grad, target.odds, rtol=1e-3, atol=0)


class Caching(Gibbs):
    """Keeps beta U of its states among its auxiliaries, which no closed form of ours can know."""

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> object:  # type: ignore[override]
        state = super().init(target, theta, beta)
        return type(state)(state.theta, state.log_prob, aux={"kept": state.log_prob.clone()})

    def step(self, target, state, beta, generator):  # type: ignore[no-untyped-def]
        assert torch.allclose(state.aux["kept"], target.log_prob(state.theta), atol=1e-10, rtol=0)
        after, info = super().step(target, state, beta, generator)
        return type(after)(after.theta, after.log_prob, aux={"kept": after.log_prob.clone()}), info


def test_what_else_a_kernel_caches_is_computed_anew() -> None:
    target, start = BlackBox(random_rbm(9, 7)), torch.zeros(1, 8, 9, dtype=torch.float64)
    run = TargetAnnealing(target, Caching(), schedule(12), start, Streams([0], "walk"))
    run.advance(12)
    assert run.evaluations == 1 + 11 * 3


class Holed(Quadratic):
    """A target that says that some of its states have density zero."""

    constrained = True


PLAIN = random_target(Binary(6))
HOLED = Holed(PLAIN.space, PLAIN.weight, PLAIN.bias)
GIVEN = "annealing needs an exact kernel on single states with given hyperparameters, "
LEVELS = {"ladder": [1.0, 0.5], "log_partition": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("target", "kernel", "words"),
    [
        (PLAIN, tunable(DMALA), f"{GIVEN}DMALA has step_size left to tuning"),
        (PLAIN, DULA(0.1), f"{GIVEN}DULA has transitions that do not leave the target"),
        (PLAIN, EDMALA(0.1), f"{GIVEN}EDMALA has an auxiliary variable, for which"),
        (
            *(PLAIN, ParallelTempering(DMALA(0.2), ladder=[1.0, 0.5], step_size=0.2)),
            f"{GIVEN}ParallelTempering has several replicas",
        ),
        (
            *(PLAIN, SimulatedTempering(DMALA(0.2), **LEVELS)),
            f"{GIVEN}SimulatedTempering has chains that move between temperatures",
        ),
        (PLAIN, RBMGibbs(), "rbm_gibbs needs a restricted Boltzmann machine"),
        (Continuous(), DMALA(0.1), "annealing needs a binary, ordinal or categorical space"),
        (HOLED, DMALA(0.1), "has; Holed is constrained"),
        (FromMeans([0.5, 0.5]), Gibbs(), r"FromMeans, which must have the shape \(4,\), \(2,\) was given"),
        *(
            (FromMeans([0.5, mean, 0.5, 0.5]), Gibbs(), f"between 0 and 1 at each bit, {mean:g} was given")
            for mean in (0.0, 1.0, float("nan"))
        ),
        (
            *(Ising(size=[2, 3]), SwendsenWang()),
            "annealing needs a kernel that serves mixtures of Ising .* SwendsenWang serves the target alone",
        ),
    ],
)
def test_what_cannot_be_annealed_is_refused(target: Target, kernel: Kernel, words: str) -> None:
    start = torch.zeros(1, 2, 6, dtype=torch.float64)
    with pytest.raises(ValueError, match=words):
        TargetAnnealing(target, kernel, schedule(30), start, Streams([0], "walk"))


@pytest.mark.parametrize(
    "betas", [[], [0.0], [0.0, 0.9], [0.1, 1.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0]]
)
def test_other_temperatures_are_refused(betas: list[float]) -> None:
    start, given = torch.zeros(1, 2, 6, dtype=torch.float64), torch.tensor(betas, dtype=torch.float64)
    with pytest.raises(ValueError, match="betas must be monotone from 0 to 1 or back"):
        TargetAnnealing(PLAIN, GWG(), given, start, Streams([0], "walk"))


@pytest.mark.parametrize("name", ["rbm", "gibbs"])
def test_the_initial_states_and_the_model_are_left_alone(name: str) -> None:
    target = BlackBox(random_rbm(6, 4))
    start, weight = exact_draws(target, 8, 0), target.hidden.weight.clone()
    kept = start.clone()
    reverse(name, target, 10, start).advance(10)
    assert torch.equal(start, kept)
    assert torch.equal(target.hidden.weight, weight)
