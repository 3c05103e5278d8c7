"""What every sampler must do, one line a sampler: exactness by enumeration, costs, caches, seeds, devices."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext

import pytest
import torch

from metrics.enumeration.transition_matrix import stationary, total_variation, transition_matrix
from samplers import (
    AB,
    ACS,
    DLMC,
    DMALA,
    DULA,
    EDMALA,
    EDMALAGLU,
    EDULA,
    EDULAGLU,
    GWG,
    MALA,
    PAS,
    ULA,
    BlockGibbs,
    DLMCForward,
    DMALANewton,
    ExactDraws,
    GaussianWalk,
    Gibbs,
    HammingBall,
    HeldOutDraws,
    Kernel,
    LocallyBalanced,
    ParallelTempering,
    PositionwiseDMALA,
    PositionwiseEDMALA,
    RandomWalk,
    RBMGibbs,
    ReplicaExchangeLangevin,
    SimulatedAnnealing,
    SimulatedTempering,
    Swaps,
    SwendsenWang,
    TourSwap,
    UniformDraws,
    Wolff,
)
from samplers.cluster.cluster_kernel import ClusterKernel
from samplers.discrete.released_dmala import ReleasedDMALA
from samplers.informed.informed_kernel import InformedKernel
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_round import REPLICA
from samplers.trial.step_trial import try_step
from targets import TSP, Bernoulli4, Binary, GaussianMixture, Ising, Ordinal, Potts, Real, Streams, Target
from tests.support.checks import cache_error, dkw_band, invariance, largest_gap, sampled_rows
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.steps.stepping import ONE, counted, seeded, started, walked
from tests.support.targets.small_targets import SPACES, random_target, small_rbm

STEP_SIZES = (0.05, 1.0, 10.0)
BETAS = (1.0, 0.5, 0.1, 0.0)
SMALL: dict[str, Target] = {
    **{name: random_target(space, seed=3) for name, space in SPACES.items()},
    "rbm": small_rbm(5, 4),
    "ising": Ising("random", 3, 1.0, field=0.3, disorder="bimodal", degree=2),
    "potts": Potts("random", 3, 3, 0.8, field=0.4, degree=2),
}
LATTICES = ("ising", "potts")
CLUSTERS = ("swendsen_wang", "swendsen_wang_two", "wolff")

SAMPLERS: dict[str, Callable[[float], Kernel]] = {
    "random_walk": lambda step: RandomWalk(step_size=max(1, int(step))),
    "random_walk_default": lambda step: RandomWalk(),
    "gibbs": lambda step: Gibbs(scan="random"),
    "gibbs_systematic": lambda step: Gibbs(scan="systematic"),
    "dmala": lambda step: DMALA(step_size=step),
    "dmala_norm_1": lambda step: DMALA(step_size=step, norm=1.0),
    "dmala_balancing": lambda step: DMALA(step_size=step, balancing=0.8),
    "dula": lambda step: DULA(step_size=step),
    "released_dmala": lambda step: ReleasedDMALA(step_size=step),
    "ab": lambda step: AB(step_size=step, balancing=0.75),
    "ab_global": lambda step: AB(step_size=step, balancing=1.0),
    "gwg": lambda step: GWG(),
    "locally_balanced": lambda step: LocallyBalanced("barker"),
    "locally_balanced_2": lambda step: LocallyBalanced("min", 2, "gradient"),
    "pas": lambda step: PAS(radius=min(step + 1.0, 1.5), differences="gradient"),
    "pas_replacement": lambda step: PAS(radius=1.5, replacement=True, balancing_function="max"),
    "dlmc": lambda step: DLMC(step_size=step, differences="gradient"),
    "dlmc_forward": lambda step: DLMCForward(step_size=step, balancing_function="max"),
    "dmala_newton": lambda step: DMALANewton(step_size=step),
    "hamming_ball": lambda step: HammingBall(block_size=2, radius=1),
    "block_gibbs": lambda step: BlockGibbs(block_size=1),
    "block_gibbs_2": lambda step: BlockGibbs(block_size=2),
    "acs": lambda step: ACS(4, step_size=8 * step, min_step_size=step, balancing=[0.9, 0.8, 0.7, 0.6]),
    "rbm_gibbs": lambda step: RBMGibbs(),
    "swendsen_wang": lambda step: SwendsenWang(),
    "swendsen_wang_two": lambda step: SwendsenWang(colours="two"),
    "wolff": lambda step: Wolff(),
}  # fmt: skip
COSTS = {"gibbs": 5, "gibbs_systematic": 5, "hamming_ball": 9, "block_gibbs": 5, "block_gibbs_2": 25}
"""How many states of the 5 x 5 space a step evaluates, where it is more than one."""

INEXACT = ("dula", "released_dmala")
NOT_ON = {
    **dict.fromkeys(("block_gibbs_2", "gwg"), ("rbm",)),
    **dict.fromkeys(("locally_balanced", "dlmc"), ("rbm", "categorical")),
    "locally_balanced_2": ("rbm", "ordinal", "binary"),
    **dict.fromkeys(("pas", "pas_replacement"), ("rbm", "ordinal")),
    **dict.fromkeys(("dlmc_forward", "dmala_newton"), ("rbm", "ordinal")),
    "swendsen_wang_two": ("ising",),
}
"""Small targets that a kernel refuses, or that would take long."""
PAIRS = [
    (name, where)
    for name in SAMPLERS
    for where in SMALL
    if (name == "rbm_gibbs") <= (where == "rbm")
    and (name in CLUSTERS) == (where in LATTICES)
    and where not in NOT_ON.get(name, ())
]


def positions(kernel: Kernel, target: Target) -> list[dict[str, torch.Tensor] | None]:
    """What a kernel may carry besides theta: each position of its cycle, or nothing."""
    length = {"acs": 4, "gibbs": target.space.d}[type(kernel).__name__.lower()] if cyclical(kernel) else 0
    return [{"position": torch.tensor(i)} for i in range(length)] or [None]


def cyclical(kernel: Kernel) -> bool:
    return isinstance(kernel, ACS) or (isinstance(kernel, Gibbs) and kernel.scan == "systematic")


@pytest.mark.parametrize(("name", "where"), PAIRS)
def test_exact_kernels_leave_the_target_invariant(name: str, where: str) -> None:
    target = SMALL[where]
    assert SAMPLERS[name](1.0).exact is (name not in INEXACT)
    for beta in BETAS:
        for step_size in STEP_SIZES:
            kernel = SAMPLERS[name](step_size)
            for aux in positions(kernel, target):
                matrix = transition_matrix(kernel, target, beta, aux)
                assert (matrix >= -1e-15).all()
                assert float((matrix.sum(-1) - 1).abs().max()) <= 1e-12
                if kernel.exact:
                    assert invariance(kernel, target, beta, aux) <= 1e-12


@pytest.mark.parametrize(("name", "where"), PAIRS)
def test_every_state_is_reached_from_every_other(name: str, where: str) -> None:
    target, kernel = SMALL[where], SAMPLERS[name](1.0)
    step = torch.eye(target.space.size, dtype=torch.bool)
    for aux in positions(kernel, target):  # all of a cycle
        step = ((step.double() @ transition_matrix(kernel, target, 0.5, aux)) > 0) | step
    for _ in range(target.space.size.bit_length()):
        step = (step.double() @ step.double()) > 0
    assert step.all()


@pytest.mark.parametrize(("name", "where"), PAIRS)
def test_steps_are_drawn_from_the_enumerated_rows(name: str, where: str) -> None:
    """False alarm 1e-6 a test (DKW); distribution functions that are off by 0.01 to 0.03 are found."""
    target, kernel = SMALL[where], SAMPLERS[name](2.0)
    share = 3 if isinstance(kernel, (InformedKernel, ClusterKernel)) else 1 + COSTS.get(name, 1) // 9
    draws = {"binary": 100_000, "categorical": 60_000}.get(where, 30_000) // share
    aux = positions(kernel, target)[-2:][0]
    frequencies = sampled_rows(kernel, target, 0.7, draws, aux=aux)
    matrix = transition_matrix(kernel, target, 0.7, aux)
    assert largest_gap(frequencies, matrix) <= dkw_band(draws, len(matrix)) < 0.04


@pytest.mark.parametrize("where", ["binary", "rbm"])
@pytest.mark.parametrize("name", INEXACT)
def test_inexact_kernels_are_biased_as_their_stationary_distribution_says(name: str, where: str) -> None:
    target, kernel = SMALL[where], SAMPLERS[name](1.0)
    own = stationary(transition_matrix(kernel, target))
    assert total_variation(own, target.probabilities()) > 0.01
    chains = 100_000 // target.space.size
    end = sampled_rows(kernel, target, 1.0, draws=chains, steps=40).mean(0)
    # 100,000 chains that have forgotten their start: the total variation noise is about 0.002 and 0.005.
    assert total_variation(end, own) <= 0.01


@pytest.mark.parametrize("name", SAMPLERS)
def test_cached_values_belong_to_theta(name: str) -> None:
    places = [where for kernel, where in PAIRS if kernel == name]
    target = SMALL["ordinal" if "ordinal" in places else places[0]]
    assert cache_error(SAMPLERS[name](1.0), target, 0.7) <= 1e-12


LADDER, SIZES = [1.0, 0.5, 0.1], [0.4, 1.0, 5.0]
BINARY, ORDINAL = random_target(Binary(4), seed=1), random_target(Ordinal(2, 4), seed=2)
REALS = GaussianMixture([[-1.0, 0.5, 0.0], [1.2, -0.3, 0.1]], covariance=[0.5, 0.8]).double()
HOT = GaussianMixture([[-1.0, 0.5, 0.0], [1.2, -0.3, 0.1]], covariance=0.5).double()
RBM_TARGET = small_rbm(8, 5)
TOURS = {encoding: TSP(4, encoding=encoding, scale=3.0, instance_seed=1) for encoding in ("bits", "one_hot")}
ENTROPIC: dict[str, Kernel] = {
    "edmala": EDMALA(1.0, 0.7, 0.3),
    "edmala_glu": EDMALAGLU(1.0, 0.7),
    "edula": EDULA(1.0, 0.7, 0.3),
    "edula_glu": EDULAGLU(1.0, 0.7),
}
PREPARED: dict[str, tuple[Kernel, Target, int]] = {
    "acs_prepared": (ACS(4, 2.0, 2.0, 0.5), ORDINAL, 1),
    "pt_prepared": (ParallelTempering(DMALA(1.0), LADDER, SIZES), ORDINAL, 3),
    "pt_acs_prepared": (ParallelTempering(ACS(4, 2.0, 2.0, 0.5), LADDER), ORDINAL, 3),
    "dmala_prepared": (DMALA(1.0), BINARY, 1),
    "ab_prepared": (AB(1.0, 0.7), BINARY, 1),
    "dlmc_prepared": (DLMC(1.0), BINARY, 1),
    "edmala_prepared": (EDMALA(1.0), BINARY, 1),
    "rbm_gibbs_prepared": (RBMGibbs(), RBM_TARGET, 1),
}
"""Kernels that the table has as runs step them: with tables, or with weights kept in the states."""

EVERY: dict[str, tuple[Kernel, Target, int]] = {
    **{
        f"{name}-{where}": (SAMPLERS[name](1.0), SMALL[where], 1)
        for name, where in PAIRS
        if name not in COSTS
    },
    **{f"{name}-ordinal": (SAMPLERS[name](1.0), SMALL["ordinal"], cost) for name, cost in COSTS.items()},
    **{f"{n}-{where}": (k, SMALL[where], 1) for n, k in ENTROPIC.items() for where in SPACES},
    "mala": (MALA(0.25), REALS, 1),
    "ula": (ULA(0.25), REALS, 1),
    "random_walk_reals": (RandomWalk(1.2), REALS, 1),
    "gaussian_walk": (GaussianWalk(1.2), REALS, 1),
    "positionwise_dmala": (PositionwiseDMALA(1.0, width=2), TOURS["bits"], 2),
    "positionwise_edmala": (PositionwiseEDMALA(1.0, width=2), TOURS["bits"], 2),
    "tour_swap_bits": (TourSwap(), TOURS["bits"], 1),
    "tour_swap_one_hot": (TourSwap(), TOURS["one_hot"], 1),
    "exact_draws": (ExactDraws(), Bernoulli4().double(), 0),
    "uniform_draws": (UniformDraws(), BINARY, 0),
    "held_out_draws": (HeldOutDraws(), small_rbm(4, 2, held_out=13), 0),
    **{
        f"pt_{pairing}": (ParallelTempering(DMALA(1.0), LADDER, SIZES, Swaps(pairing=pairing)), BINARY, 3)
        for pairing in PAIRINGS
    },
    **{
        f"pt_{rule}": (ParallelTempering(DMALA(1.0), LADDER, SIZES, Swaps(rule, "sequential")), BINARY, 3)
        for rule in ("history", "v1_literal", "released")
    },
    "pt_gibbs": (ParallelTempering(Gibbs(), LADDER), ORDINAL, 12),
    "pt_edmala": (ParallelTempering(EDMALA(1.0), LADDER, SIZES), BINARY, 3),
    "pt_acs": (ParallelTempering(SAMPLERS["acs"](1.0), LADDER), ORDINAL, 3),
    **{
        name: (kernel.prepared(target, ONE), target, cost)
        for name, (kernel, target, cost) in PREPARED.items()
    },
    "pt_mala": (ParallelTempering(MALA(1.0), LADDER, SIZES), REALS, 3),
    "pt_rbm_gibbs": (ParallelTempering(RBMGibbs(), LADDER), RBM_TARGET, 3),
    "pt_pas": (ParallelTempering(PAS(1.5), LADDER, [1.0, 1.5, 2.0]), ORDINAL, 3),
    "pt_dlmc": (ParallelTempering(DLMC(1.0), LADDER, SIZES), BINARY, 3),
    "pt_wolff": (ParallelTempering(Wolff(), LADDER), SMALL["potts"], 3),
    "pt_tour_swap": (ParallelTempering(TourSwap(), LADDER), TOURS["bits"], 3),
    "reld": (ReplicaExchangeLangevin(MALA(1.0), LADDER, 0.2), HOT, 3),
    "reld_confined": (ReplicaExchangeLangevin(MALA(1.0), [1.0, 0.0], 0.2, tau=2.0, scale=3.0), HOT, 2),
    "reld_ula": (ReplicaExchangeLangevin(ULA(1.0), LADDER, 0.2), HOT, 3),
    "st_dmala": (SimulatedTempering(DMALA(1.0), LADDER, [0.0] * 3, step_size=SIZES), BINARY, 1),
    "st_gibbs": (SimulatedTempering(Gibbs("systematic"), LADDER, [0.0] * 3), ORDINAL, 4),
    "annealed_dmala": (SimulatedAnnealing(DMALA(1.0), 9, step_size=SIZES), BINARY, 1),
    "annealed_gibbs": (SimulatedAnnealing(Gibbs("systematic"), 9), ORDINAL, 4),
    "st_edmala": (SimulatedTempering(EDMALA(1.0, 1.0), LADDER, [0.0] * 3), BINARY, 1),
}
"""Every kernel, alone and tempered: with its target and the evaluations of a step, all replicas counted."""


NEVER_REJECT = {
    *COSTS,
    *("dula", "edula", "edula_glu", "ula", "reld_ula", "pt_gibbs", "st_gibbs", "annealed_gibbs"),
    *("exact_draws", "uniform_draws", "held_out_draws", "swendsen_wang", "swendsen_wang_two"),
}


def distance(target: Target, old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """How many coordinates differ; the Euclidean distance on the reals."""
    if isinstance(target.space, Real):
        return (new - old).norm(dim=-1)
    differs = old != new
    return (differs.any(-1) if len(target.space.event_shape) > 1 else differs).sum(-1).double()


@pytest.mark.parametrize("name", EVERY)
def test_any_batch_axes_serve_nothing_waits_for_the_host_and_what_is_cached_is_fresh(name: str) -> None:
    kernel, target, cost = EVERY[name]
    for batch in ((), (6,), (2, 3), (1, 2, 3)):
        if name.startswith("held_out") and not batch:
            continue
        # Tables compare beta once. A single chain is looked up by a number, which CPU tensors are asked for.
        state, _ = walked(kernel, target, started(kernel, target, batch, seeded()), 1, seeded(1), ONE)
        with NoHostSync() if batch else nullcontext(), counted(target) as asked:
            before, _ = walked(kernel, target, state, 4, seeded(1), ONE)
            state, info = walked(kernel, target, before, 1, seeded(2), ONE)
        torch.testing.assert_close(info.jump, distance(target, kernel.draws(before), kernel.draws(state)))
        if name.split("-")[0] in NEVER_REJECT:
            assert bool((info.acceptance == 1.0).all())
        else:
            assert bool(((info.acceptance >= 0.0) & (info.acceptance <= 1.0)).all())
        event = target.space.event_shape
        assert kernel.draws(state).shape == (*batch, *event)
        assert info.acceptance.shape == info.jump.shape == batch
        assert all(value.shape == (*batch, *event) for value in info.aux.values())
        assert state.log_prob.shape == (*kernel.axes, *batch)
        assert info.evaluations == cost
        if cost and "rbm_gibbs" not in name:
            assert sum(asked) == 5 * cost * torch.Size(batch).numel()
        log_prob, grad = target.log_prob_and_grad(state.theta)
        torch.testing.assert_close(state.log_prob, log_prob, rtol=1e-12, atol=1e-12)
        if state.grad is not None:
            torch.testing.assert_close(state.grad, grad, rtol=1e-12, atol=1e-12)
        if info.swap is not None:
            for part in (info.swap.probability, info.swap.attempted, info.swap.accepted):
                assert part.shape == (kernel.axes[0] - 1, *batch)
            assert not bool((info.swap.accepted & ~info.swap.attempted).any())
            assert torch.equal(state.aux[REPLICA], info.swap.replica)
            assert bool((info.swap.replica.sort(0).values.movedim(0, -1) == torch.arange(*kernel.axes)).all())


@pytest.mark.parametrize("name", EVERY)
def test_a_step_passes_its_trial(name: str) -> None:
    kernel, target, _ = EVERY[name]
    try_step(kernel, target, target.initial((*kernel.axes, 1, 2), seeded()), ONE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", EVERY)
def test_a_seed_draws_the_same_bits_alone_and_beside_others(name: str, dtype: torch.dtype) -> None:
    kernel, target = EVERY[name][0], copy.deepcopy(EVERY[name][1]).to(dtype)
    if name in PREPARED:
        kernel = PREPARED[name][0].to(target.like()).prepared(target, ONE.to(dtype))
    else:
        kernel = kernel.to(target.like())

    def draws(seeds: list[int]) -> torch.Tensor:
        state = started(kernel, target, (len(seeds), 13), Streams(seeds, "start"))
        state, _ = walked(kernel, target, state, 20, Streams(seeds, "chain"))
        assert state.theta.dtype == state.log_prob.dtype == dtype
        return kernel.draws(state)

    together = draws([0, 1, 2])
    assert torch.equal(draws([1]), together[1:2])
    assert torch.equal(draws([2, 0]), together[[2, 0]])
    assert not torch.equal(together[0], together[1])


@pytest.mark.parametrize(
    "name", ["pt_odd_even", "pt_sequential", "pt_edmala", "pt_prepared", "reld", "st_dmala"]
)
def test_the_axes_only_arrange_the_chains(name: str) -> None:
    """The same chains in a row and in a box draw the same numbers, whichever axes they are arranged along."""
    kernel, target, _ = EVERY[name]

    def walk(batch: tuple[int, ...]) -> torch.Tensor:
        generator = seeded(3)
        theta = target.initial((*kernel.axes, 6), generator)
        theta = theta.reshape(*kernel.axes, *batch, *target.space.event_shape)
        state, _ = walked(kernel, target, kernel.init(target, theta, ONE), 20, generator)
        return kernel.draws(state).reshape(6, -1)

    row = walk((6,))
    assert torch.equal(walk((2, 3)), row)
    assert torch.equal(walk((1, 2, 3)), row)


@pytest.mark.parametrize(
    "name", [*ENTROPIC, "dmala", "dula", "ab", "acs", "gibbs", "gwg", "block_gibbs", "uniform_draws"]
)
def test_discrete_kernels_refuse_the_reals(name: str) -> None:
    kernel = {**ENTROPIC, "uniform_draws": UniformDraws()}.get(name) or SAMPLERS[name](1.0)
    with pytest.raises(
        ValueError, match=r"(?i)^\w+ needs a binary, ordinal or categorical space, not Real\(d=3\)$"
    ):
        kernel.init(REALS, torch.zeros((2, 3), dtype=torch.float64), ONE)


@pytest.mark.parametrize("name", ["mala", "ula", "gaussian_walk", "reld", "pt_mala"])
def test_kernels_on_the_reals_refuse_discrete_spaces(name: str) -> None:
    kernel = EVERY[name][0]
    words = {"reld": "replica exchange Langevin", "pt_mala": "mala"}.get(name, name)
    with pytest.raises(ValueError, match=rf"^{words} needs a real space, not Binary\(d=4, levels=2\)$"):
        kernel.check(BINARY)
    with pytest.raises(ValueError, match="needs a real space"):
        started(kernel, BINARY, (2,), seeded())


@pytest.mark.parametrize("name", EVERY)
def test_only_known_moves_are_prepared(name: str) -> None:
    """From tables on small ordinal targets, with kept weights on bits, and block Gibbs for beta = 1."""
    kernel, target, _ = EVERY[name]
    plain, (base, *_) = "prepared" not in name, name.split("-")
    langevin = base in ("dmala", "dmala_norm_1", "dmala_balancing", "ab", "ab_global")
    ordinal = target.space in (SPACES["ordinal"], ORDINAL.space)
    tabulated = ordinal and (langevin or base in ("dula", "released_dmala"))
    kept = isinstance(target.space, Binary) and (langevin or base in ("dlmc", "dlmc_forward", "edmala"))
    prepared = kernel.prepared(target, ONE)
    if plain:
        assert (prepared is not kernel) is (tabulated or kept or base == "rbm_gibbs")
    assert prepared.exact is kernel.exact
