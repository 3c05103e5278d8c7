"""What informed samplers draw and refuse: special cases in closed form, and bad settings."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import (
    DLMC,
    DMALA,
    GWG,
    PAS,
    DLMCForward,
    DMALANewton,
    Kernel,
    LocallyBalanced,
    ParallelTempering,
    configured,
)
from samplers.proposals.balancing_functions import FROM_ROOT, FUNCTIONS, balancing_function
from samplers.proposals.jump_process import JumpProcess, interpolated
from targets import Bernoulli4, Binary, Categorical, Discrete, Ising, Potts, Tabulated, Target
from tests.support.checks import invariance
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, Quadratic, random_target, small_rbm
from tests.support.tunable import tunable

SINGLE = Categorical(1, 3)


def cube_root_pair(log_ratio: Tensor) -> Tensor:
    """log of t^(1/3) + t^(2/3), which is balanced."""
    return torch.logaddexp(log_ratio / 3, 2 * log_ratio / 3)


def whole(log_ratio: Tensor) -> Tensor:
    """log t: globally balanced, not locally."""
    return log_ratio


def independent(logits: list[float]) -> Quadratic:
    """Independent bits with these log odds."""
    bias = torch.tensor(logits, dtype=torch.float64)
    return Quadratic(Binary(len(logits)), torch.zeros((len(logits),) * 2, dtype=torch.float64), bias)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_balancing_functions_are_those_of_their_formulas(name: str) -> None:
    t = torch.logspace(-6, 6, 25, dtype=torch.float64)
    formula = {"sqrt": t.sqrt(), "barker": t / (1 + t), "min": t.clamp(max=1), "max": t.clamp(min=1)}[name]
    torch.testing.assert_close(FUNCTIONS[name](t.log()).exp(), formula, rtol=1e-12, atol=0)
    assert balancing_function(name) is FUNCTIONS[name]
    larger = t >= 1
    found = FROM_ROOT[FUNCTIONS[name]](t[larger].rsqrt())
    torch.testing.assert_close(found, formula[larger], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("sqrd", "must be one of barker, max, min, sqrt, 'sqrd' was given; did you mean 'sqrt'?"),
        (3, "balancing_function must be one of barker, max, min, sqrt, 3 was given"),
        ("no_such.f", "balancing_function must be a name or the path of a function, 'no_such.f'"),
        (f"{__name__}.missing", "balancing_function must be a name or the path of a function"),
        (whole, r"with g\(t\) = t g\(1/t\), .* is off by 20 in log g"),
        (lambda t: t / 0, "is off by nan in log g"),
        (lambda t: t.nothing, "must take log t and give log g"),
    ],
)  # fmt: skip
def test_functions_that_are_not_balanced_are_refused(given: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LocallyBalanced(given)  # type: ignore[arg-type]


def test_a_function_of_the_users_own_is_taken() -> None:
    kernel = DLMC(1.0, cube_root_pair)
    assert invariance(kernel, random_target(SPACES["categorical"]), 0.5) <= 1e-12


def test_a_function_without_a_hash_is_taken() -> None:
    @dataclass
    class Power:
        def __call__(self, log_ratio: torch.Tensor) -> torch.Tensor:
            return 0.5 * log_ratio

    target, thetas = Bernoulli4(), []
    for function in (Power(), "sqrt"):
        kernel = DLMC(0.3, balancing_function=function)
        state = kernel.init(target, target.initial((50,), seeded()), ONE)
        thetas.append(kernel.step(target, state, ONE, seeded(1))[0].theta)
    assert torch.equal(*thetas)


def test_one_site_with_the_gradients_square_root_is_gwg() -> None:
    for space in SPACES.values():
        target = random_target(space, seed=5)
        ours = transition_matrix(LocallyBalanced(differences="gradient"), target, 0.7)
        torch.testing.assert_close(ours, transition_matrix(GWG(), target, 0.7), rtol=0, atol=1e-14)
        one = transition_matrix(PAS(1.0, differences="gradient"), target, 0.7)
        torch.testing.assert_close(one, ours, rtol=0, atol=1e-14)


def test_exact_differences_of_a_multilinear_target_are_those_of_its_gradient() -> None:
    for target in (Ising(size=2, coupling=0.3, field=0.2), Potts("random", 2, 3, degree=1, field=0.3)):
        pairs: list[tuple[Kernel, Kernel]] = [
            (DMALANewton(0.5), DMALA(0.5)),
            (DLMC(0.5, differences="exact"), DLMC(0.5, differences="gradient")),
        ]
        for exact, first_order in pairs:
            one, other = (transition_matrix(kernel, target, 0.7) for kernel in (exact, first_order))
            torch.testing.assert_close(one, other, rtol=0, atol=1e-14)


def test_tabulated_targets_know_their_differences() -> None:
    target = Bernoulli4().double()
    states = target.space.states()
    log_prob, differences = target.log_prob_and_differences(states)
    for bit in range(4):
        flipped = states.clone()
        flipped[:, bit] = 1 - flipped[:, bit]
        torch.testing.assert_close(differences[:, bit], target.log_prob(flipped) - log_prob)


@pytest.mark.parametrize("space", [Binary(3), Categorical(2, 3)], ids=["bits", "one-hot"])
@pytest.mark.parametrize(
    "kernel",
    [PAS(1.5), PAS(2.0, replacement=True), LocallyBalanced(), DLMC(1.0), DLMCForward(1.0), DMALANewton(1.0)],
    ids=lambda kernel: type(kernel).__name__,
)
def test_states_of_probability_zero_are_not_in_the_way(kernel: Kernel, space: Discrete) -> None:
    log_prob = torch.linspace(-1.0, 1.0, space.size, dtype=torch.float64)
    log_prob[3] = -torch.inf
    target = Tabulated(space, log_prob, torch.zeros((space.size, *space.event_shape), dtype=torch.float64))
    possible = target.probabilities() > 0
    found = transition_matrix(kernel, target)[possible]
    assert bool(found.isfinite().all())
    torch.testing.assert_close(target.probabilities()[possible] @ found, target.probabilities())
    state = kernel.init(target, space.states()[possible], ONE)
    for step in range(20):
        state, info = kernel.step(target, state, ONE, seeded(step))
        assert bool(info.acceptance.isfinite().all())
        assert bool(state.log_prob.isfinite().all())


def test_dlmc_solves_the_jump_process_of_independent_bits() -> None:
    """The proposal is exp(h Q) bit by bit, computed by the matrix exponential, and nothing is rejected."""
    target, time = independent([0.7, -1.9]), 0.8
    beta, parts = 0.6, []
    for logit in (0.7 * beta, -1.9 * beta):
        up, down = math.exp(logit / 2), math.exp(-logit / 2)
        parts.append(
            torch.linalg.matrix_exp(time * torch.tensor([[-up, up], [down, -down]], dtype=torch.float64))
        )
    wanted = torch.kron(parts[0], parts[1])
    torch.testing.assert_close(transition_matrix(DLMC(time), target, beta), wanted, rtol=0, atol=1e-14)


def test_the_euler_step_is_one_for_short_times() -> None:
    """For a short time no level reaches its limit: P = 1 + h Q coordinate by coordinate."""
    target, time = random_target(SINGLE, seed=2), 1e-3
    states = SINGLE.states()
    log_prob = target.log_prob(states)
    rates = (0.5 * (log_prob - log_prob.unsqueeze(-1))).exp()
    proposal = DLMCForward(time, differences="exact").proposal
    state = DLMC(time, differences="exact").init(target, states, ONE)
    for level in range(3):
        destination = states[level].expand(3, 1, 3)
        found = proposal.log_prob(target.space, state, destination, ONE).exp()
        for source in range(3):
            if source != level:
                assert found[source].item() == pytest.approx(time * rates[source, level].item(), rel=1e-12)


def single_step_acceptance(kernel: Kernel, target: Target, state: list[float]) -> float:
    """Mean acceptance of the proposals from one state, by drawing them."""
    theta = torch.tensor(state, dtype=torch.float64).expand(200_000, -1)
    _, info = kernel.step(target, kernel.init(target, theta, ONE), ONE, seeded())
    return float(info.acceptance.mean())


def test_acceptance_of_a_single_step_on_bernoulli_bits_is_that_in_closed_form() -> None:
    """Independent bits: q(flip i) = g(t_i) / Z, and the way back has the same g's but 1/t_i in Z.

    With g = sqrt the acceptance of flipping i is min(1, Z(x) / Z(y)), Z(y) = Z(x) - sqrt t_i + 1 / sqrt t_i.
    """
    logits = [0.5, -1.0, 2.0]
    roots = [math.exp(logit / 2) for logit in logits]
    total = sum(roots)
    wanted = sum(r / total * min(1.0, total / (total - r + 1 / r)) for r in roots)
    # 200,000 draws of numbers in [0, 1]: a gap of 0.006 has a probability below 1e-6.
    for kernel in (LocallyBalanced(), GWG()):
        assert single_step_acceptance(kernel, independent(logits), [0.0] * 3) == pytest.approx(
            wanted, abs=6e-3
        )
    # The jump processes of independent bits leave each bit's distribution: nothing is rejected.
    for time in (0.1, 1.0, 10.0):
        assert single_step_acceptance(DLMC(time), independent(logits), [0.0] * 3) == pytest.approx(1.0)


def test_acceptance_of_a_single_step_on_an_ising_ring_is_that_in_closed_form() -> None:
    """All spins of a ring of n are down: every flip loses 4 J, and its way back is one of n flips.

    Z(x) = n g(e^-4J). After it one spin gains 4 J, its two neighbours change by nothing, all others lose 4 J:
    the acceptance is min(1, e^-4J g(e^4J) Z(x) / (Z(y) g(e^-4J))) = min(1, Z(x) / Z(y)), as g is balanced.
    """
    n, coupling = 6, 0.2
    ring = Ising("random", n, coupling, degree=2, instance_seed=_ring_seed(n))
    energies = torch.tensor([-4.0, 4.0, 0.0], dtype=torch.float64) * coupling
    for name in ("sqrt", "min", "barker"):
        low, high, level = FUNCTIONS[name](energies).exp().tolist()
        before, after = n * low, high + 2 * level + (n - 3) * low
        found = single_step_acceptance(LocallyBalanced(name), ring, [0.0] * n)
        assert found == pytest.approx(min(1.0, before / after), rel=1e-9)


def _ring_seed(n: int) -> int:
    """An instance of the regular graph of degree 2 that is a single ring."""
    import networkx

    for seed in range(50):
        edges = Ising("random", n, degree=2, instance_seed=seed).pairwise_terms().edges
        if networkx.is_connected(networkx.Graph(edges.tolist())):
            return seed
    raise AssertionError("no ring")


def test_lengths_of_paths_have_the_mean_and_the_probabilities_that_are_said() -> None:
    target = random_target(Binary(5), seed=1)
    for radius in (1.0, 1.7, 3.0, 5.0):
        kernel = PAS(radius)
        state = kernel.init(target, target.space.initial((100_000,), seeded(), like=ONE), ONE)
        lengths = kernel.lengths(state, 5, seeded(1))
        shares = kernel.length_probabilities(5)
        counts = torch.bincount(lengths.long().flatten() - 1, minlength=5) / 100_000
        assert lengths.max() <= kernel.longest(5) <= 5
        assert sum(shares) == pytest.approx(1.0)
        assert (counts - torch.tensor([*shares, 0.0, 0.0, 0.0, 0.0][:5])).abs().max() < 0.01
        if 2 * radius - 1 <= 5:
            assert sum(share * (i + 1) for i, share in enumerate(shares)) == pytest.approx(radius, abs=0.25)


def test_the_radius_is_tuned_to_the_acceptance_that_is_wanted() -> None:
    target = Ising(size=8, coupling=0.2)
    sampler = tunable(PAS, acceptance=0.574)
    assert sampler.open == ("radius",)
    found = sampler.tune(target, seeded(), effort=0.3).hyperparameters["radius"]
    kernel = sampler.kernel_at({"radius": found})
    state = kernel.init(target, target.initial((2_000,), seeded(1)), ONE)
    for _ in range(40):
        state, info = kernel.step(target, state, ONE, seeded(2))
    assert 1.5 < found < 40
    assert float(info.acceptance.mean()) == pytest.approx(0.574, abs=0.08)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: PAS(5.0), "radius must be at most 3, the dimension, 5 was given"),
        (lambda: LocallyBalanced(sites=4), "sites must be at most 3, the dimension, 4 was given"),
        (lambda: LocallyBalanced(sites=2), "sites must be 1, or odd and below 3, the dimension"),
        (lambda: LocallyBalanced(sites=3), "flips of 3 at once do not reach all states"),
        (lambda: PAS(0.5), "radius must be a number of at least 1, 0.5 was given"),
        (lambda: ParallelTempering(PAS(1.0), [1.0, 0.5], [1.0, 0.5]), "radius must be a number of at least"),
        (lambda: PAS(2.0, replacement="no"), "replacement must be true or false, 'no' was given"),  # type: ignore[arg-type]
        (lambda: DLMC(1.0, differences="exactly"), "must be one of auto, exact, gradient, 'exactly'"),
        (lambda: configured(PAS, radius=-1), "radius must be a positive number or 'auto', -1 was given"),
        (lambda: PAS(1.0, differences="exact"), "differences must be 'gradient' or 'auto' for RBM"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        build().check(small_rbm(3, 2))  # type: ignore[operator]


def test_the_proposal_of_a_very_steep_target_has_no_infinite_terms() -> None:
    target = independent([900.0, -900.0]).float()
    kernel = DLMC(0.5).to(target.like())
    proposal = kernel.proposal
    assert isinstance(proposal, JumpProcess)
    assert proposal.solver is interpolated
    state = kernel.init(target, torch.tensor([[0.0, 1.0]]), torch.ones(()))
    state, info = kernel.step(target, state, torch.ones(()), seeded())
    assert state.theta.tolist() == [[1.0, 0.0]]
    assert info.acceptance.tolist() == [1.0]
