"""Energy spread around the draws against a loop over neighbours, for listed and for unlisted targets."""

from __future__ import annotations

import statistics

import pytest
import torch
from torch import Tensor

from metrics.landscape.flatness import Flatness, rises, rises_of_table
from targets import RBM, Bernoulli4, Ising, Target
from tests.support.measuring import context, measure, random_draws
from tests.support.targets.modes import Bare


def twin(target: Target, theta: Tensor) -> tuple[float, float]:
    """Standard deviation over the neighbourhood and mean absolute difference of one state."""
    here = target.log_prob(theta).item()
    there = []
    for coordinate in range(len(theta)):
        neighbour = theta.clone()
        neighbour[coordinate] = 1 - neighbour[coordinate]
        there.append(target.log_prob(neighbour).item())
    return statistics.pstdev([here, *there]), statistics.fmean(abs(value - here) for value in there)


def test_listed_states_give_the_mean_over_all_draws() -> None:
    target = Bernoulli4()
    draws = random_draws(target, steps=5, seeds=2, chains=6).double()
    result = measure(context(target, 2, 6), [Flatness], draws).result()
    for seed in range(2):
        spreads, gaps = zip(*[twin(target, theta) for theta in draws[:, seed].reshape(-1, 4)], strict=True)
        assert result["flatness_sd"][seed].item() == pytest.approx(statistics.fmean(spreads), abs=1e-12)
        assert result["flatness_gap"][seed].item() == pytest.approx(statistics.fmean(gaps), abs=1e-12)
    of_states = [twin(target, theta) for theta in target.space.states()]
    for place, key in enumerate(("flatness_sd_exact", "flatness_gap_exact")):
        weighted = zip(target.probabilities().tolist(), of_states, strict=True)
        expected = sum(p * values[place] for p, values in weighted)
        assert result[key].tolist() == pytest.approx([expected] * 2, abs=1e-12)


def test_unlisted_states_give_the_mean_over_the_last_draws() -> None:
    target = RBM(20, 3).double()
    with torch.no_grad():
        target.weight.normal_(generator=torch.Generator().manual_seed(1))
    draws = random_draws(target, steps=3, seeds=2, chains=4)
    with torch.no_grad():
        result = measure(context(target, 2, 4), [Flatness], draws).result()
        assert set(result) == {"flatness_sd", "flatness_gap"}
        for seed in range(2):
            spreads, gaps = zip(*[twin(target, theta) for theta in draws[-1, seed]], strict=True)
            assert result["flatness_sd"][seed].item() == pytest.approx(statistics.fmean(spreads), abs=1e-10)
            assert result["flatness_gap"][seed].item() == pytest.approx(statistics.fmean(gaps), abs=1e-10)


def test_a_seed_alone_has_the_bits_that_it_has_among_others() -> None:
    """One chain of 33 coordinates: where all seeds are one tensor, std() rounds otherwise than for one."""
    target = Ising(size=[3, 11]).double()
    draws = random_draws(target, steps=1, seeds=7, chains=1)
    together = measure(context(target, 7, 1), [Flatness], draws).result()
    for seed in range(7):
        alone = measure(context(target, 1, 1), [Flatness], draws[:, seed : seed + 1]).result()
        for key, value in alone.items():
            assert value.item() == together[key][seed].item(), (key, seed)


def test_the_two_ways_agree_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Bernoulli4()
    states = target.space.states().reshape(2, 8, 4)
    table = rises_of_table(target.log_prob(target.space.states())).reshape(2, 8, 4)
    assert torch.equal(rises(target, states), table)
    assert torch.equal(states.reshape(16, 4), target.space.states()), "the draws must be left as they are"
    monkeypatch.setattr("metrics.landscape.flatness.STATES_AT_ONCE", 5)
    assert torch.equal(rises(target, states), table)


def test_a_constant_energy_is_flat() -> None:
    target = Bare()
    result = measure(context(target, 1, 4), [Flatness], random_draws(target, 2, 1, 4)).result()
    assert [value.item() for value in result.values()] == [0.0, 0.0]
