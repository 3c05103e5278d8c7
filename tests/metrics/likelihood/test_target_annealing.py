"""AIS of any target with any kernel: against enumeration, an RBM's own AIS, and a walk written out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.annealed_target import AnnealedTarget
from metrics.likelihood.importance_weights import Estimate, log_mean_weight
from metrics.likelihood.rbm_annealing import RBMAnnealing, log_reference_partition, reference_draws
from metrics.likelihood.rbm_log_partition import exact_rbm_log_partition
from metrics.likelihood.target_annealing import TargetAnnealing
from samplers.discrete.ab import AB
from samplers.discrete.acs import ACS
from samplers.discrete.block_gibbs import BlockGibbs
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.gwg import GWG
from samplers.discrete.hamming_ball import HammingBall
from samplers.discrete.rbm_gibbs import RBMGibbs
from samplers.entropic.edmala import EDMALA
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.models.rbm import RBM
from targets.randomness import Streams
from targets.reference_distribution import reference_distribution
from targets.spaces import Binary, Categorical, Discrete, Ordinal, Real
from targets.target import Target
from tests.metrics.likelihood.test_ais import machine
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import Quadratic, random_target
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

STEPS = {"dmala": 200, "acs": 200, "ab": 200}
"""Temperatures; kernels that move one or a few coordinates a step need more."""


class BlackBox(Target):
    """An RBM that is known by its density alone, with the base law of its data mean; counts its calls."""

    batch_invariant = False

    def __init__(self, rbm: RBM) -> None:
        super().__init__()
        self.hidden = rbm
        self.space = rbm.space
        self.register_buffer("data_mean", rbm.data_mean.clone())
        self.calls = 0

    def log_prob(self, theta: Tensor) -> Tensor:
        self.calls += 1
        return self.hidden.log_prob(theta)


def walk(
    target: Target,
    kernel: Kernel,
    steps: int = 30,
    chains: int = 16,
    seeds: tuple[int, ...] = (0,),
    start: Tensor | None = None,
) -> TargetAnnealing:
    """A walk from the base law, or back from `start`, that has not begun."""
    streams = Streams(seeds, "walk")
    if start is not None:
        return TargetAnnealing(target, kernel, schedule(steps).flip(0), start, streams)
    start = reference_distribution(target).draws((len(seeds), chains), streams, like=target.like())
    return TargetAnnealing(target, kernel, schedule(steps), start, streams)


def log_z(target: Target) -> float:
    assert isinstance(target.space, Discrete)
    return float(target.log_prob(target.space.states()).logsumexp(0))


def draws_of(target: Target, number: int, seed: int) -> Tensor:
    """Exact draws ``(1, number, *event_shape)`` by enumeration."""
    assert isinstance(target.space, Discrete)
    states = target.space.states()
    generator = torch.Generator().manual_seed(seed)
    pi = target.log_prob(states).softmax(-1)
    return states[torch.multinomial(pi, number, replacement=True, generator=generator)].unsqueeze(0)


def ended(run: TargetAnnealing) -> Estimate:
    run.advance(run.steps)
    return log_mean_weight(run.log_weights)


@pytest.mark.parametrize("name", KERNELS)
def test_log_z_of_12_pixels_is_that_of_enumeration(name: str) -> None:
    """4 standard errors and a tenth of a nat; each way errs by 4 once in 16,000; the seeds are fixed."""
    target = BlackBox(machine(12, 10, scale=0.7))
    truth, steps = log_z(target), STEPS.get(name, 1000)
    forward = ended(walk(target, KERNELS[name](), steps, 400))
    reverse = ended(walk(target, KERNELS[name](), steps, start=draws_of(target, 400, 1))).reversed(0.0)
    for found in (forward, reverse):
        assert abs(found.value - truth) <= min(0.1, 4.0 * found.standard_error)
    assert truth == pytest.approx(exact_rbm_log_partition(target.hidden), abs=1e-9)


@pytest.mark.parametrize("space", [Ordinal(3, 4), Categorical(3, 4), Binary(8)], ids=str)
@pytest.mark.parametrize("name", ["dmala", "gwg", "gibbs"])
def test_other_spaces_anneal_from_the_uniform_law(space: Discrete, name: str) -> None:
    target = random_target(space, roughness=2.0)
    truth, found = log_z(target), ended(walk(target, KERNELS[name](), 300, 400))
    assert abs(found.value - truth) <= min(0.1, 4.0 * found.standard_error)
    back = ended(walk(target, KERNELS[name](), 300, start=draws_of(target, 400, 1))).reversed(0.0)
    assert abs(back.value - truth) <= min(0.1, 4.0 * back.standard_error)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("steps", [1, 3])
def test_weights_are_unbiased_for_the_ratio_of_partition_functions(name: str, steps: int) -> None:
    """1e5 chains on few temperatures; the alarm rate at five standard errors is below 1e-6 a case."""
    target = random_target(Binary(4), seed=3, roughness=1.2)
    truth = log_z(target)
    for run, ratio in (
        (walk(target, KERNELS[name](), steps, 100_000), truth),
        (walk(target, KERNELS[name](), steps, start=draws_of(target, 100_000, 4)), -truth),
    ):
        run.advance(steps)
        weights = (run.log_weights.flatten() - ratio).exp()
        error = float(weights.std()) / len(weights) ** 0.5
        assert error < 0.01
        assert abs(float(weights.mean()) - 1.0) <= 5.0 * error


def test_forward_and_reverse_bracket_the_truth() -> None:
    """A short schedule, so that the two sides stand apart by more than their errors."""
    target, bracketed = BlackBox(machine(12, 10, scale=1.0)), 0
    truth = log_z(target)
    for seed in range(20):
        up = ended(walk(target, GWG(), 40, 100, (seed,)))
        down = ended(walk(target, GWG(), 40, seeds=(seed,), start=draws_of(target, 100, seed))).reversed(0.0)
        low, high = up.value - 2 * up.standard_error, down.value + 2 * down.standard_error
        bracketed += low <= truth <= high
    assert bracketed >= 19


def test_an_rbm_as_a_black_box_has_the_log_z_of_its_own_ais() -> None:
    rbm = machine(12, 10, scale=0.7)
    streams = Streams([5], "own")
    own = RBMAnnealing(rbm, schedule(500), reference_draws(rbm, 400, streams), streams)
    own.advance(500)
    theirs = log_mean_weight(own.log_weights).shifted(log_reference_partition(rbm))
    ours = ended(walk(BlackBox(rbm), DMALA(0.5), 500, 400))
    error = (ours.standard_error**2 + theirs.standard_error**2) ** 0.5
    assert abs(ours.value - theirs.value) <= min(0.1, 4.0 * error)
    assert abs(ours.value - exact_rbm_log_partition(rbm)) <= min(0.1, 4.0 * ours.standard_error)


def test_both_walks_of_an_rbm_start_from_the_same_law() -> None:
    rbm = machine(9, 4)
    pi = reference_distribution(rbm)
    brute = rbm.space.states() @ rbm.data_mean.logit() + torch.log1p(-rbm.data_mean).sum()
    assert torch.allclose(pi.log_prob(rbm.space.states()), brute, atol=1e-12, rtol=0)
    assert float(brute.logsumexp(0)) == pytest.approx(0.0, abs=1e-12)
    assert torch.equal(pi.grad(rbm.weight), rbm.data_mean.logit())
    mine = pi.draws((2, 8), Streams([0, 1], "start"), like=rbm.like())
    assert torch.equal(mine, reference_draws(rbm, 8, Streams([0, 1], "start")))


@pytest.mark.parametrize("space", [Ordinal(2, 5), Categorical(2, 3), Binary(5)], ids=str)
def test_the_uniform_law_sums_to_one(space: Discrete) -> None:
    target = random_target(space)
    pi, states = reference_distribution(target), space.states()
    assert float(pi.log_prob(states).logsumexp(0)) == pytest.approx(0.0, abs=1e-12)
    assert float(pi.grad(states)) == 0.0
    assert pi.log_prob(states[None, :3]).shape == (1, 3)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("back", [False, True])
def test_a_walk_is_that_written_out_with_an_evaluation_for_everything(name: str, back: bool) -> None:
    """Weights from U itself and a state made anew at each temperature, turn for turn with the walk."""
    target, steps = BlackBox(machine(9, 7, scale=1.0)), 20
    start = draws_of(target, 16, 1)
    run = walk(target, KERNELS[name](), steps, start=start if back else None)
    kernel, betas = KERNELS[name](), run.betas
    streams = Streams((0,), "walk")
    theta = start if back else reference_distribution(target).draws((1, 16), streams, like=target.like())
    one, pi = torch.ones((), dtype=torch.float64), reference_distribution(target)
    total, aux = torch.zeros(1, 16, dtype=torch.float64), None
    for number, (before, after) in enumerate(pairwise(betas)):
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


def test_the_path_is_the_mixture_of_its_ends() -> None:
    target = random_target(Binary(4))
    path, states = AnnealedTarget(target, reference_distribution(target), 0.3), target.space.states()
    wanted = 0.7 * path.base.log_prob(states) + 0.3 * target.log_prob(states)
    log_prob, grad = path.log_prob_and_grad(states)
    assert torch.allclose(path.log_prob(states), wanted, atol=1e-12, rtol=0)
    assert torch.allclose(log_prob, wanted, atol=1e-12, rtol=0)
    assert torch.allclose(grad, 0.3 * target.log_prob_and_grad(states)[1], atol=1e-12, rtol=0)
    tilted = BlackBox(machine(4, 3))
    path = AnnealedTarget(tilted, reference_distribution(tilted), 0.3)
    wanted = 0.7 * tilted.data_mean.logit() + 0.3 * tilted.log_prob_and_grad(states)[1]
    assert torch.allclose(path.log_prob_and_grad(states)[1], wanted, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("name", "each"), [("dmala", 1), ("acs", 1), ("gwg", 1), ("gibbs", 2)])
@pytest.mark.parametrize("back", [False, True])
def test_a_temperature_costs_what_a_step_of_the_kernel_costs(name: str, each: int, back: bool) -> None:
    target = BlackBox(machine(9, 7))
    start = draws_of(target, 8, 0) if back else None
    target.calls = 0
    run = walk(target, KERNELS[name](), 25, start=start)
    run.advance(25)
    # Gibbs evaluates both levels in one call. The walk's last step moves nothing, its start is evaluated.
    assert target.calls == 25
    assert run.evaluations == 1 + 24 * each


def test_temperatures_repeated_at_1_move_draws_and_weigh_nothing() -> None:
    target = BlackBox(machine(9, 7))
    betas = torch.cat([torch.ones(10, dtype=torch.float64), schedule(20).flip(0)])
    streams = Streams([0], "walk")
    run = TargetAnnealing(target, DMALA(0.5), betas, torch.zeros(1, 8, 9, dtype=torch.float64), streams)
    run.advance(10)
    assert (run.log_weights == 0).all()
    assert run.theta.any()
    run.advance(20)
    assert (run.log_weights != 0).all()
    assert run.step == 30


class Product(Target):
    """Independent bits: no matrix product, so that rounding does not depend on the company."""

    def __init__(self, d: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.space = Binary(d)
        self.register_buffer("odds", torch.linspace(-2.0, 2.0, d, dtype=dtype))

    def log_prob(self, theta: Tensor) -> Tensor:
        return (theta * self.odds).sum(-1)


@pytest.mark.parametrize("name", KERNELS)
def test_a_seed_has_the_same_bits_alone_and_beside_others(name: str) -> None:
    target = Product(70, torch.float32)
    together = walk(target, KERNELS[name](), seeds=(4, 9, 2))
    alone = walk(target, KERNELS[name](), seeds=(9,))
    together.advance(30)
    alone.advance(30)
    assert torch.equal(together.log_weights[1], alone.log_weights[0])
    assert torch.equal(together.theta[1], alone.theta[0])
    assert not torch.equal(together.log_weights[0], together.log_weights[1])


@pytest.mark.parametrize("name", KERNELS)
def test_no_step_waits_for_the_device(name: str) -> None:
    run = walk(BlackBox(machine(9, 7)), KERNELS[name]())
    with NoHostSync():
        run.advance(5)
    assert run.step == 5


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("stops", [[0], [1, 7], [29]])
def test_a_stopped_annealing_ends_with_the_same_bits(name: str, stops: list[int]) -> None:
    target = BlackBox(machine(20, 12).float())
    whole = walk(target, KERNELS[name](), seeds=(1, 2))
    whole.advance(1000)
    part = walk(target, KERNELS[name](), seeds=(1, 2))
    for stop in stops:
        part.advance(stop)
        saved = part.state_dict()
        part.advance(3)  # what happens after saving leaves no trace in what was saved
        part = walk(target, KERNELS[name](), seeds=(1, 2))
        part.advance(2)
        part.load_state_dict(saved)
    part.advance(1000)
    assert part.step == whole.step == whole.steps == 30
    assert part.evaluations == whole.evaluations
    assert torch.equal(part.log_weights, whole.log_weights)
    assert torch.equal(part.theta, whole.theta)


def test_another_walk_s_state_is_refused() -> None:
    target = BlackBox(machine(6, 4))
    saved = walk(target, DMALA(0.5), 10).state_dict()
    with pytest.raises(ValueError, match="other temperatures"):
        walk(target, DMALA(0.5), 11).load_state_dict(saved)
    with pytest.raises(ValueError, match="another kernel"):
        walk(target, Gibbs(), 10).load_state_dict(saved)
    with pytest.raises(ValueError, match="theta must have the shape"):
        walk(target, DMALA(0.5), 10, seeds=(0, 1)).load_state_dict(saved)


def test_single_precision_costs_little() -> None:
    """Beside the same walk in double precision, whose random numbers it shares up to their width."""
    rbm = machine(60, 40, scale=0.2)
    exact = ended(walk(BlackBox(rbm), DMALA(0.5), 1000, 200))
    single = ended(walk(BlackBox(rbm.float()), DMALA(0.5), 1000, 200))
    assert abs(exact.value - single.value) <= 4 * (exact.standard_error + single.standard_error)


def test_a_chain_that_stands_still_keeps_its_energy_to_rounding() -> None:
    """10,000 temperatures carry one evaluation of float32 along and lose none of its digits."""
    target = Product(50, torch.float32)
    run = walk(target, DMALA(1e-3), 10_000, 4)
    start = run.theta.clone()
    run.advance(10_000)
    assert torch.equal(run.theta, start), "the step size was to keep it where it is"
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


def test_what_else_a_kernel_caches_is_made_anew() -> None:
    run = walk(BlackBox(machine(9, 7)), Caching(), 12)
    run.advance(12)
    assert run.evaluations == 1 + 11 * 3


class Continuous(Target):
    """A density on the reals."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Real(2)

    def log_prob(self, theta: Tensor) -> Tensor:
        return -theta.square().sum(-1)


class Holed(Quadratic):
    """A target that says that some of its states have density zero."""

    constrained = True


GIVEN = "annealing needs an exact kernel on single states with given hyperparameters, "


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (lambda: tunable(DMALA), f"{GIVEN}DMALA has step_size left to tuning"),
        (lambda: DULA(0.1), f"{GIVEN}DULA has transitions that do not leave the target"),
        (lambda: EDMALA(0.1), f"{GIVEN}EDMALA has an auxiliary variable, for which"),
        (
            lambda: ParallelTempering(DMALA(0.2), ladder=[1.0, 0.5], step_size=0.2),
            f"{GIVEN}ParallelTempering has several replicas",
        ),
        (
            lambda: SimulatedTempering(DMALA(0.2), ladder=[1.0, 0.5], log_partition=[0.0, 0.0]),
            f"{GIVEN}SimulatedTempering has chains that move between temperatures",
        ),
        (RBMGibbs, "rbm_gibbs needs a restricted Boltzmann machine"),
    ],
)
def test_kernels_that_cannot_anneal_are_refused(kernel: Callable[[], Kernel], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        walk(BlackBox(machine(6, 4)), kernel())


def test_targets_that_cannot_be_annealed_are_refused() -> None:
    with pytest.raises(ValueError, match="annealing needs a binary, ordinal or categorical space"):
        walk(Continuous(), DMALA(0.1))
    plain = random_target(Binary(3))
    with pytest.raises(ValueError, match="has; Holed is constrained"):
        walk(Holed(plain.space, plain.weight, plain.bias), DMALA(0.1))


@pytest.mark.parametrize(
    "betas", [[], [0.0], [0.0, 0.9], [0.1, 1.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0]]
)
def test_other_temperatures_are_refused(betas: list[float]) -> None:
    theta = torch.zeros(1, 2, 6, dtype=torch.float64)
    with pytest.raises(ValueError, match="betas must be monotone from 0 to 1 or back"):
        TargetAnnealing(
            BlackBox(machine(6, 4)),
            GWG(),
            torch.tensor(betas, dtype=torch.float64),
            theta,
            Streams([0], "walk"),
        )


def test_the_walk_leaves_the_starting_states_alone() -> None:
    target = BlackBox(machine(6, 4))
    start = draws_of(target, 8, 0)
    kept = start.clone()
    walk(target, Gibbs(), 10, start=start).advance(10)
    assert torch.equal(start, kept)
