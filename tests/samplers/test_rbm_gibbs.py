"""Every sampler on a small restricted Boltzmann machine by enumeration, block Gibbs above all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import (
    invariance_error,
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from samplers.discrete.ab import AB
from samplers.discrete.acs import ACS
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.random_walk import RandomWalk
from samplers.discrete.rbm_gibbs import HIDDEN_LOGITS, RBMGibbs
from samplers.kernel import Kernel, State
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.ladder_rounds import _by_place
from targets.models.rbm import RBM
from targets.randomness import Streams
from tests.support.checks import cache_error, dkw_band, invariance, largest_gap, sampled_rows
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import SPACES, random_target
from tests.support.tunable import tunable

ONE = torch.ones((), dtype=torch.float64)


def small_rbm(n_visible: int = 8, n_hidden: int = 5, scale: float = 4.0) -> RBM:
    """An RBM with weights of order one and hidden biases of both signs, in float64."""
    target = RBM(n_visible, n_hidden, mean=torch.linspace(0.2, 0.7, n_visible), seed=2)
    target.requires_grad_(False)
    target.weight.mul_(scale)
    target.hidden_bias.copy_(torch.linspace(-1.0, 1.0, n_hidden))
    return target


TARGET = small_rbm()
BETAS = (1.0, 0.6, 0.1, 0.0)
STEP_SIZES = (0.2, 1.0, 10.0)

EXACT: dict[str, Callable[[float], Kernel]] = {
    "rbm_gibbs": lambda step: RBMGibbs(),
    "gibbs": lambda step: Gibbs(),
    "random_walk": lambda step: RandomWalk(),
    "dmala": lambda step: DMALA(step),
    "ab": lambda step: AB(step, balancing=0.7),
    "acs": lambda step: ACS(cycle_length=3, step_size=10 * step, min_step_size=step, balancing=0.7),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_kernels_leave_the_machine_invariant(name: str) -> None:
    for step in STEP_SIZES if name in ("dmala", "ab", "acs") else STEP_SIZES[:1]:
        kernel = EXACT[name](step)
        assert kernel.exact
        for beta in BETAS:
            for position in range(3) if name == "acs" else (None,):
                aux = None if position is None else {"position": torch.tensor(position)}
                assert invariance(kernel, TARGET, beta, aux) <= 1e-12


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("name", ["rbm_gibbs", "dmala", "gibbs"])
@pytest.mark.parametrize(("replicas", "n_visible"), [(2, 4), (3, 3)])
def test_ladders_leave_the_product_of_the_tempered_laws_invariant(
    name: str, pairing: str, replicas: int, n_visible: int
) -> None:
    target = small_rbm(n_visible, 4)
    ladder = [1.0, 0.5, 0.1][:replicas]
    sizes = [0.5, 1.5, 5.0][:replicas] if name == "dmala" else None
    sampler = ParallelTempering(EXACT[name](1.0), ladder, step_size=sizes, swap=Swaps(pairing=pairing))
    assert sampler.exact
    distribution = product_distribution(target, ladder)
    for turn in (0, 1):
        assert invariance_error(tempering_matrix(sampler, target, turn), distribution) <= 1e-12


def test_without_its_acceptance_tempered_block_gibbs_would_be_another_sampler() -> None:
    """The proposal is reversible for mu_beta, which is far from exp(beta U): the correction is needed."""
    states = TARGET.space.states()
    beta = 0.5
    logits = TARGET.hidden_logits(states)
    mu = (torch.nn.functional.softplus(beta * logits).sum(-1) + beta * states @ TARGET.visible_bias).softmax(
        0
    )
    hidden = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * TARGET.n_hidden)
    joint = beta * (hidden @ logits.T + (states @ TARGET.visible_bias))
    given_visible, given_hidden = joint.softmax(0), joint.softmax(1)
    proposal = given_visible.T @ given_hidden
    assert invariance_error(proposal, mu) <= 1e-14
    assert total_variation(mu, tempered_probabilities(TARGET, beta)) > 0.02
    tempered = torch.tensor(beta, dtype=torch.float64)
    matrix = transition_matrix(RBMGibbs(), TARGET, beta)
    distribution = tempered_probabilities(TARGET, beta)
    excess = distribution.log() - mu.log()
    accepted = proposal * (excess.unsqueeze(0) - excess.unsqueeze(1)).clamp(max=0.0).exp()
    off = 1.0 - torch.eye(len(distribution), dtype=torch.float64)
    torch.testing.assert_close(matrix * off, accepted * off, atol=1e-14, rtol=0)
    flow = distribution.unsqueeze(1) * matrix
    torch.testing.assert_close(flow, flow.T, atol=1e-15, rtol=0)
    start = RBMGibbs().init(TARGET, states, tempered)
    _, info = RBMGibbs().step(TARGET, start, tempered, torch.Generator().manual_seed(0))
    assert info.acceptance.min() < 0.95


def test_at_the_cold_rung_nothing_is_ever_rejected() -> None:
    """To the last bit, in float32 and for a batch of betas of which one is 1."""
    target = small_rbm(50, 37, scale=3.0).float()
    betas = torch.tensor([1.0, 0.5]).reshape(2, 1, 1)
    generator = Streams([0], "chain")
    state = RBMGibbs().init(target, target.initial((2, 1, 64), generator), betas)
    for _ in range(20):
        state, info = RBMGibbs().step(target, state, betas, generator)
        assert (info.acceptance[0] == 1.0).all()
        assert (info.acceptance[1] < 1.0).any()
        assert info.evaluations == 1


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_steps_are_drawn_from_the_enumerated_rows(beta: float) -> None:
    """100,000 draws from each of 32 states; false alarm 1e-6 (DKW)."""
    target = small_rbm(5, 4)
    matrix = transition_matrix(RBMGibbs(), target, beta)
    torch.testing.assert_close(matrix.sum(-1), torch.ones(32, dtype=torch.float64), atol=1e-13, rtol=0)
    frequencies = sampled_rows(RBMGibbs(), target, beta, draws=100_000)
    assert largest_gap(frequencies, matrix) <= dkw_band(100_000, 32)


@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_what_is_kept_belongs_to_theta(beta: float) -> None:
    assert cache_error(RBMGibbs(), TARGET, beta) <= 1e-12
    tempered = torch.tensor(beta, dtype=torch.float64)
    state = RBMGibbs().init(TARGET, TARGET.space.states(), tempered)
    for _ in range(10):
        state, _ = RBMGibbs().step(TARGET, state, tempered, torch.Generator().manual_seed(1))
    torch.testing.assert_close(state.aux[HIDDEN_LOGITS], TARGET.hidden_logits(state.theta))


def test_a_swap_moves_the_hidden_logits_with_theta() -> None:
    sampler = ParallelTempering(RBMGibbs(), ladder=[1.0, 0.6, 0.3])
    generator = Streams([0, 1], "chain")
    state = sampler.init(TARGET, TARGET.initial((3, 2, 20), generator), ONE)
    swaps = 0
    for _ in range(20):
        state, info = sampler.step(TARGET, state, ONE, generator)
        assert info.swap is not None
        assert info.evaluations == 3
        swaps += int(info.swap.accepted.sum())
    assert swaps > 100
    torch.testing.assert_close(state.log_prob, TARGET.log_prob(state.theta))
    torch.testing.assert_close(state.aux[HIDDEN_LOGITS], TARGET.hidden_logits(state.theta))


def test_dula_is_biased_as_its_own_law_says() -> None:
    target = small_rbm(4, 4)
    kernel = DULA(1.0)
    own = stationary(transition_matrix(kernel, target))
    assert total_variation(own, target.probabilities()) > 0.01
    end = sampled_rows(kernel, target, 1.0, draws=25_000, steps=60).mean(0)
    # 400,000 chains that have forgotten their start: the total variation noise is about 0.002.
    assert total_variation(end, own) <= 0.01


@pytest.mark.parametrize("name", [*EXACT, "pt_rbm_gibbs", "pt_dmala"])
def test_a_step_never_leaves_the_device(name: str) -> None:
    tempered = {
        "pt_rbm_gibbs": lambda: ParallelTempering(RBMGibbs(), ladder=[1.0, 0.5]),
        "pt_dmala": lambda: ParallelTempering(DMALA(1.0), ladder=[1.0, 0.5], step_size=[0.5, 1.0]),
    }
    kernel = tempered[name]() if name in tempered else EXACT[name](1.0)
    generator = Streams([0, 1], "chain")
    state = kernel.init(TARGET, TARGET.initial((*kernel.axes, 2, 4), generator), ONE)
    with NoHostSync():
        for _ in range(5):
            state, _ = kernel.step(TARGET, state, ONE, generator)


@pytest.mark.parametrize("alpha", [0.15, 5.0])
@pytest.mark.parametrize("scale", [2.0, 40.0])
def test_log_acceptance_in_float32_is_that_of_float64(alpha: float, scale: float) -> None:
    exact = small_rbm(784, 100, scale)
    rounded = small_rbm(784, 100, scale).float()
    exact.load_state_dict({name: value.double() for name, value in rounded.state_dict().items()})
    theta = exact.initial((2, 50), torch.Generator().manual_seed(0))
    found = []
    for target in (exact, rounded):
        one = ONE.to(target.like())
        kernel = DMALA(alpha).to(target.like())
        source, destination = (kernel.init(target, x.to(one), one) for x in theta)
        forward, reverse = (
            kernel.proposal.log_prob(target.space, a, b.theta, one)
            for a, b in ((source, destination), (destination, source))
        )
        found.append((destination.log_prob - source.log_prob + reverse - forward).double())
    assert found[1].isfinite().all()
    # Energies of order 10^4 at the larger scale: a few units in the last place of float32.
    assert (found[0] - found[1]).abs().max() <= 5e-4 * max(1.0, scale)


def test_flip_logits_beyond_the_range_of_exp_give_probabilities_to_the_last_digit() -> None:
    """exp(|logit|) is infinite in float32 beyond 88; here they reach 10,000."""
    space = TARGET.space
    theta = torch.zeros((1, 8))
    grad = 2.0 * torch.tensor([[-1e4, -90.0, -1.0, 0.0, 1.0, 90.0, 1e4, 1e4]]) + 5.0
    proposal = LangevinProposal(torch.tensor(0.2))
    flipped = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
    log_prob = proposal.log_prob(space, State(theta, torch.zeros(1), grad), flipped, torch.ones(()))
    logit = torch.tensor([-1e4, -90.0, -1.0, 0.0, 1.0, 90.0, 1e4, 1e4], dtype=torch.float64)
    expected = torch.nn.functional.logsigmoid((2 * flipped[0].double() - 1) * logit).sum()
    assert log_prob.item() == pytest.approx(expected.item(), abs=1e-5)
    unlikely = proposal.log_prob(space, State(theta, torch.zeros(1), grad), 1 - flipped, torch.ones(()))
    assert unlikely.item() == pytest.approx(-30180.0 + expected.item(), rel=1e-3)


@pytest.mark.parametrize("d", [1, 3, 8, 17, 100])
@pytest.mark.parametrize("chains", [1, 5, 7, 16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_binary_proposals_of_a_seed_are_the_same_bits_beside_other_seeds(
    d: int, chains: int, dtype: torch.dtype
) -> None:
    generator = torch.Generator().manual_seed(d)
    seeds = [3, 1, 4]
    target = RBM(d, 2)
    theta = torch.randint(0, 2, (3, chains, d), generator=generator).to(dtype)
    grad = 8.0 * torch.randn((3, chains, d), generator=generator, dtype=dtype)
    proposal, one = LangevinProposal(torch.tensor(0.7, dtype=dtype)), torch.ones((), dtype=dtype)

    def draw(rows: slice) -> tuple[torch.Tensor, ...]:
        state = State(theta[rows].clone(), theta[rows].sum(-1), grad[rows].clone())
        drawn, forward = proposal.propose(target.space, state, one, Streams(seeds[rows], "chain"))
        back = State(drawn, state.log_prob, state.grad)
        return drawn, forward, proposal.log_prob(target.space, back, state.theta, one)

    together = draw(slice(0, 3))
    for seed in range(3):
        for batch, alone in zip(together, draw(slice(seed, seed + 1)), strict=True):
            assert torch.equal(batch[seed : seed + 1], alone)


def test_a_ladder_is_tuned_around_block_gibbs() -> None:
    sampler = tunable(ParallelTempering, RBMGibbs(), replicas=3)
    assert sampler.open == ("ladder",)
    tuned = sampler.tuned(TARGET, Streams([0], "tuning"))
    assert tuned.axes == (3,)
    assert tuned.exact


def test_a_ladder_is_tuned_around_step_sizes_that_are_given_by_rung() -> None:
    sizes = [0.15, 0.25, 0.35, 0.45]
    sampler = tunable(ParallelTempering, tunable(DMALA), replicas=4, step_size=sizes)
    assert sampler.open == ("ladder",)
    found = sampler.tune(TARGET, Streams([0], "tuning")).hyperparameters
    assert found["step_size"] == sizes
    tuned = sampler.kernel_at(found)
    assert isinstance(tuned, ParallelTempering)
    assert tuned.axes == (4,)
    assert tuned.step_sizes is not None
    assert tuned.step_sizes.flatten().tolist() == sizes
    # The same sizes at a ladder of another length, at the same place between cold and hot.
    between = _by_place(torch.tensor(sizes, dtype=torch.float64), 7)
    assert between[::2].tolist() == pytest.approx(sizes)
    assert between[1].item() == pytest.approx((0.15 * 0.25) ** 0.5)
    for wrong in ({"replicas": 3}, {}, {"ladder": [1.0, 0.5]}):
        with pytest.raises(ValueError, match="one number for each rung of a given ladder or a given number"):
            tunable(ParallelTempering, tunable(DMALA), step_size=sizes, **wrong)
    with pytest.raises(ValueError, match="one number for each rung"):
        tunable(ParallelTempering, tunable(DMALA), replicas=4, step_size=[])


def test_other_targets_are_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"rbm_gibbs needs a restricted Boltzmann machine .* Quadratic was"):
        RBMGibbs().check(random_target(SPACES["binary"]))
    with pytest.raises(ValueError, match="restricted Boltzmann machine"):
        RBMGibbs().init(random_target(SPACES["binary"]), torch.zeros(1, 3), ONE)


def test_large_machines_are_not_enumerated() -> None:
    target = small_rbm(3, 15)
    states = target.space.states()
    start = RBMGibbs().init(target, states, ONE)
    with pytest.raises(ValueError, match="n_hidden at most 14"):
        RBMGibbs().log_transition(target, start, states, ONE)


def test_a_nan_weight_stays_visible_and_is_rejected() -> None:
    target = small_rbm(4, 3)
    state = RBMGibbs().init(target, target.space.states(), ONE)
    target.hidden_bias[0] = torch.nan
    after, info = RBMGibbs().step(target, state, ONE, torch.Generator().manual_seed(0))
    assert info.acceptance.isnan().all()
    assert torch.equal(after.theta, state.theta)
