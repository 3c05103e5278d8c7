from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from functools import partial

import pytest
import torch

from targets import Binary, Categorical, Discrete, MixtureOfGaussians, Ordinal, Streams, Tabulated

SPACES = [Binary(3), Ordinal(2, 4), Categorical(2, 3)]
spaces = pytest.mark.parametrize("space", SPACES, ids=repr)


def random_target(space: Discrete) -> Tabulated:
    generator = torch.Generator().manual_seed(4)
    log_prob = torch.randn(space.size, generator=generator, dtype=torch.float64)
    grad = torch.randn((space.size, *space.event_shape), generator=generator, dtype=torch.float64)
    return Tabulated(space, 2 * log_prob, grad)


@spaces
def test_look_ups_return_the_table_for_any_batch(space: Discrete) -> None:
    target = random_target(space)
    log_prob = 2 * torch.randn(space.size, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    order = torch.randperm(space.size, generator=torch.Generator().manual_seed(5))
    theta = space.states()[order].reshape(space.size, 1, *space.event_shape)
    value, grad = target.log_prob_and_grad(theta)
    assert torch.equal(value, log_prob[order].unsqueeze(-1))
    assert torch.equal(target.log_prob(theta), value)
    assert grad.shape == theta.shape
    assert torch.equal(grad.squeeze(1)[order.argsort()], target.log_prob_and_grad(space.states())[1])


@spaces
def test_probabilities_are_the_normalised_exponentials(space: Discrete) -> None:
    target = random_target(space)
    weights = [math.exp(value) for value in target.log_prob(space.states()).tolist()]
    expected = torch.tensor([weight / math.fsum(weights) for weight in weights], dtype=torch.float64)
    assert torch.allclose(target.probabilities(), expected, rtol=1e-14, atol=0)
    assert abs(math.fsum(target.probabilities().tolist()) - 1) < 1e-14


def test_probabilities_stay_exact_in_single_precision() -> None:
    target = MixtureOfGaussians(8)
    exact, weights = target.probabilities().clone(), target.mode_weights().clone()
    target.to(torch.float32)
    assert target.log_prob(target.modes).dtype == torch.float32
    assert target.sample((2,), torch.Generator()).dtype == torch.float32
    assert target.responsibilities(target.modes).dtype == torch.float32
    assert torch.equal(target.probabilities(), exact)
    assert torch.equal(target.mode_weights(), weights)
    assert target.probabilities().dtype == torch.float64


@pytest.mark.parametrize(
    "make", [*(partial(random_target, each) for each in SPACES), lambda: MixtureOfGaussians(6).float()]
)
def test_exact_draws_follow_the_probabilities(make: Callable[[], Tabulated]) -> None:
    """Empirical against exact distribution function, DKW band at a false alarm of 1e-6."""
    target, draws = make(), 400_000
    theta = target.sample((2, draws // 2), Streams([0, 1], "reference"))
    assert theta.shape == (2, draws // 2, *target.space.event_shape)
    assert target.space.contains(theta).all()
    place = target.space.index(theta).flatten()
    frequencies = torch.bincount(place, minlength=target.space.size).double() / draws
    band = math.sqrt(math.log(2 / 1e-6) / (2 * draws))
    assert (frequencies.cumsum(0) - target.probabilities().cumsum(0)).abs().max() < band


def test_the_draws_of_a_seed_do_not_depend_on_the_batch() -> None:
    target = random_target(Ordinal(2, 4))
    together = target.sample((3, 50), Streams([4, 9, 2], "reference"))
    alone = target.sample((1, 50), Streams([9], "reference"))
    assert torch.equal(together[1], alone[0])


def test_impossible_states_are_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    log_prob = torch.tensor([-torch.inf, 0.0, -torch.inf, 1.0, -torch.inf])
    target = Tabulated(Ordinal(1, 5), log_prob, torch.zeros(5, 1))
    assert set(target.sample((20_000,), torch.Generator().manual_seed(0)).flatten().tolist()) == {1.0, 3.0}
    assert target.probabilities()[[0, 2, 4]].tolist() == [0.0, 0.0, 0.0]
    # The least draw, the one where the two possible states meet, and the greatest.
    edges = torch.tensor([0.0, target.probabilities()[1], 1 - 2**-53], dtype=torch.float64)
    monkeypatch.setattr("targets.synthetic.tabulated.uniform", lambda *_, **__: edges)
    assert target.sample((3,), torch.Generator()).flatten().tolist() == [1.0, 3.0, 3.0]


def test_copies_and_pickles_are_equal() -> None:
    target = MixtureOfGaussians(4, "released")
    states = target.space.states()
    for twin in (copy.deepcopy(target), pickle.loads(pickle.dumps(target))):
        for mine, theirs in zip(
            target.log_prob_and_grad(states), twin.log_prob_and_grad(states), strict=True
        ):
            assert torch.equal(mine, theirs)
        assert torch.equal(twin.probabilities(), target.probabilities())


@spaces
def test_a_table_with_minus_infinity_is_constrained_and_starts_at_possible_states(space: Discrete) -> None:
    full = random_target(space)
    log_prob = full.log_prob(space.states()).clone()
    log_prob[::3] = -math.inf
    target = Tabulated(space, log_prob, torch.zeros(space.size, *space.event_shape))
    assert target.constrained
    assert not full.constrained
    start = target.initial((1, 2000), Streams([0], "start"))
    assert set(space.index(start).unique().tolist()) == set(range(space.size)) - set(range(0, space.size, 3))
    plain = space.initial((1, 20), Streams([0], "start"), like=full.like())
    assert torch.equal(full.initial((1, 20), Streams([0], "start")), plain)
