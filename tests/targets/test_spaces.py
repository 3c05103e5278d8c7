from __future__ import annotations

import itertools
import pickle

import pytest
import torch

from targets import Binary, Categorical, Discrete, Ordinal, Real, Streams

DISCRETE = [Binary(1), Binary(4), Ordinal(1, 7), Ordinal(2, 5), Ordinal(3, 2), Categorical(3, 4)]
names = pytest.mark.parametrize("space", DISCRETE, ids=repr)


@names
def test_states_are_all_tuples_of_levels_and_back_with_the_last_coordinate_fastest(space: Discrete) -> None:
    levels = torch.tensor(list(itertools.product(range(space.levels), repeat=space.d)))
    expected = levels.double()
    if isinstance(space, Categorical):
        expected = torch.eye(space.levels, dtype=torch.float64)[levels]
    states = space.states()
    assert states.shape == (space.size, *space.event_shape)
    assert torch.equal(states, expected)
    assert torch.equal(space.to_levels(states), levels)
    assert space.to_levels(states).dtype == torch.int64
    assert torch.equal(space.from_levels(levels, torch.float64), states)


@names
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_index_undoes_states_for_any_batch(space: Discrete, dtype: torch.dtype) -> None:
    states = space.states(dtype)
    order = torch.randperm(space.size, generator=torch.Generator().manual_seed(0))
    assert states.dtype == dtype
    assert torch.equal(space.index(states), torch.arange(space.size))
    batch = states[order].reshape(1, space.size, 1, *space.event_shape)
    assert torch.equal(space.index(batch), order.reshape(1, space.size, 1))
    assert space.batch_shape(batch) == (1, space.size, 1)


@names
def test_the_index_of_the_same_states_is_computed_once_until_they_change(space: Discrete) -> None:
    theta = space.states()[:1].clone()
    first = space.index(theta)
    assert space.index(theta) is first
    theta.copy_(space.states()[-1:])
    assert space.index(theta).tolist() == [space.size - 1]
    assert space.index(theta.clone()).tolist() == [space.size - 1]
    assert space == type(space)(**{name: getattr(space, name) for name in ("d", "levels")})
    with torch.inference_mode():  # where changes are not counted
        states = space.states()[:1].clone()
        assert space.index(states).tolist() == [0]
        states.copy_(space.states()[-1:])
        assert space.index(states).tolist() == [space.size - 1]


@names
def test_states_over_the_memory_of_numpy_are_looked_up_anew(space: Discrete) -> None:
    first, last = space.states()[:1].numpy().copy(), space.states()[-1:].numpy()
    states = torch.from_numpy(first)
    assert space.index(states).tolist() == [0]
    first[:] = last  # torch counts no such change
    assert space.index(states).tolist() == [space.size - 1]
    theta = space.states()[:1].clone()
    assert space.index(theta).tolist() == [0]
    theta.numpy()[:] = last
    assert space.index(theta).tolist() == [space.size - 1]
    batched = torch.vmap(space.index)(torch.cat([theta, space.states()[:1]]))  # these have no memory
    assert batched.tolist() == [space.size - 1, 0]


@names
def test_hamming_counts_coordinates_that_differ(space: Discrete) -> None:
    states = space.states()
    a, b = states.unsqueeze(0), states.unsqueeze(1)
    tuples = list(itertools.product(range(space.levels), repeat=space.d))
    brute = [[sum(x != y for x, y in zip(s, t, strict=True)) for s in tuples] for t in tuples]
    assert torch.equal(space.hamming(a, b), torch.tensor(brute, dtype=torch.float64))


@names
def test_contains_accepts_every_state_and_nothing_off_the_grid(space: Discrete) -> None:
    states = space.states()
    assert space.contains(states).all()
    assert not space.contains(states + 0.5).any()
    assert not space.contains(states - space.levels).any()
    assert not space.contains(states + space.levels).any()
    assert not space.contains(torch.full_like(states, torch.nan)).any()


def test_contains_refuses_vectors_that_are_not_one_hot() -> None:
    space = Categorical(2, 3)
    two = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    none = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    compensated = torch.tensor([[2.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
    assert space.contains(torch.stack([two, none, compensated])).tolist() == [False, False, False]


@names
def test_initial_states_are_uniform(space: Discrete) -> None:
    """Every cell within 6 binomial standard deviations: false alarm about 64 states x 2e-9 < 1e-6."""
    draws = 50_000
    theta = space.initial((draws,), torch.Generator().manual_seed(1), like=torch.empty(0))
    assert theta.dtype == torch.float32
    assert theta.shape == (draws, *space.event_shape)
    assert space.contains(theta).all()
    counts = torch.bincount(space.index(theta), minlength=space.size).double()
    expected = draws / space.size
    deviation = (expected * (1 - 1 / space.size)) ** 0.5
    assert (counts - expected).abs().max() < 6 * deviation


def test_initial_states_on_the_reals_are_standard_normal() -> None:
    """Mean and mean square of 4e5 numbers within 6 standard errors: false alarm below 1e-8."""
    space = Real(4)
    theta = space.initial((2, 50_000), Streams([3, 5], "start"), like=torch.empty(0, dtype=torch.float64))
    assert theta.shape == (2, 50_000, 4)
    assert abs(theta.mean().item()) < 6 / 4e5**0.5
    assert abs(theta.square().mean().item() - 1) < 6 * (2 / 4e5) ** 0.5


def test_what_a_space_knows_of_the_last_states_is_not_pickled() -> None:
    space = Ordinal(2, 101)
    before = pickle.dumps(space)
    space.index(torch.zeros(1000, 2))
    assert pickle.dumps(space) == before
    assert pickle.loads(before) == space
