"""Round trips are counted exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from metrics.mixing.round_trips import RenewedRoundTrips, RenewedTripCounts, RoundTripCounts, RoundTrips
from metrics.suite import MetricSuite
from samplers import DMALA, ParallelTempering
from samplers.kernel import Info, SwapInfo
from targets import MixtureOfGaussians
from tests.support.measuring import context, measure, noisy_infos, random_draws
from tests.support.targets.modes import corners


def trips_by_hand(labels: list[list[int]]) -> int:
    """Trips of one chain from the label on each rung after each round, replica by replica."""
    total = 0
    for replica in range(len(labels[0])):
        ends = [
            "cold" if rungs[0] == replica else "hot" for rungs in labels if replica in (rungs[0], rungs[-1])
        ]
        visits = [end for place, end in enumerate(ends) if place == 0 or ends[place - 1] != end]
        while visits and visits[0] == "hot":
            visits = visits[1:]
        total += max(0, (len(visits) - 1) // 2)
    return total


def reports(labels: list[Tensor]) -> list[Info]:
    """Reports of rounds that left these labels ``(replicas, seeds, chains)``."""
    replicas, seeds, chains = labels[0].shape
    ones, yes = (
        torch.ones(replicas - 1, seeds, chains),
        torch.ones(replicas - 1, seeds, chains, dtype=torch.bool),
    )
    still = torch.zeros(seeds, chains)
    return [Info(still, still, 1, SwapInfo(ones, yes, yes, label)) for label in labels]


def always_accepted(replicas: int, rounds: int, seeds: int = 1, chains: int = 1) -> list[Tensor]:
    """Labels when every odd-even meeting ends in a swap."""
    order, labels = list(range(replicas)), []
    for turn in range(rounds):
        for pair in range(turn % 2, replicas - 1, 2):
            order[pair], order[pair + 1] = order[pair + 1], order[pair]
        labels.append(torch.tensor(order).reshape(-1, 1, 1).expand(replicas, seeds, chains))
    return labels


def count(labels: list[Tensor], replicas: int) -> dict[str, Tensor]:
    target, (_, seeds, chains) = corners(), labels[0].shape
    run = context(target, seeds, chains, replicas)
    return measure(
        run, [RoundTrips], random_draws(target, len(labels), seeds, chains), reports(labels)
    ).result()


@pytest.mark.parametrize("replicas", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("rounds", [1, 7, 40, 161])
def test_always_accepted_swaps_give_the_exact_count(replicas: int, rounds: int) -> None:
    labels = always_accepted(replicas, rounds, seeds=2, chains=3)
    expected = trips_by_hand([label[:, 0, 0].tolist() for label in labels])
    result = count(labels, replicas)
    assert result["round_trips"].tolist() == [3 * expected] * 2
    assert result["round_trip_rate"].tolist() == pytest.approx([1000 * expected / rounds] * 2)
    # Each of K replicas comes round once in 2 K rounds: 1 / (2 + 2 Lambda) trips a round with Lambda = 0.
    assert expected == pytest.approx(rounds / 2, abs=replicas)


def test_random_swaps_are_counted_as_by_hand() -> None:
    infos = noisy_infos(steps=300, seeds=2, chains=3, replicas=4)
    target = corners()
    run = context(target, 2, 3, 4)
    result = measure(run, [RoundTrips], random_draws(target, 300, 2, 3), infos).result()
    for seed in range(2):
        expected = sum(
            trips_by_hand([info.swap.replica[:, seed, chain].tolist() for info in infos])
            for chain in range(3)
        )
        assert expected > 20
        assert result["round_trips"][seed].item() == expected


@pytest.mark.parametrize("kind", [RoundTripCounts, RenewedTripCounts])
@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_merge_of_many_stretches_equals_one_pass(length: int, kind: type[RoundTripCounts]) -> None:
    """Stretches shorter than a trip hold no complete one; the merge must find them all."""
    infos = noisy_infos(steps=120, seeds=2, chains=3, replicas=3)
    whole = fed(infos, kind)
    merged = fed(infos[:length], kind)
    for start in range(length, 120, length):
        merged.merge(fed(infos[start : start + length], kind))
    assert whole.trips.sum() > 20
    assert_same(merged, whole)
    for first, second in ((1, 2), (3, 10), (20, 21), (5, 33)):
        tail, left = fed(infos[first:second], kind), fed(infos[:first], kind)
        tail.merge(fed(infos[second:], kind))
        left.merge(tail)
        assert_same(left, whole)


def fed(infos: list[Info], kind: type[RoundTripCounts] = RoundTripCounts) -> RoundTripCounts:
    journeys = kind(context(corners(), 2, 3, 3))
    for step, info in enumerate(infos):
        journeys.update(step, torch.empty(0), info)
    return journeys


def assert_same(one: RoundTripCounts, other: RoundTripCounts) -> None:
    assert one.steps == other.steps
    for name in ("trips", "state", "hot_first"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name


def renewed_by_hand(infos: list[Info], seed: int, chain: int) -> int:
    """Trips of one chain whose replica's state a move at the hot end changed."""
    replicas = infos[0].swap.replica.shape[0]
    hot, renewed, left, trips = replicas - 1, set(), set(), 0
    for info in infos:
        if info.hot_jump[seed, chain] > 0 and hot in left:
            renewed.add(hot)
        labels = info.swap.replica[:, seed, chain].tolist()
        trips += labels[0] in renewed
        renewed.discard(labels[0])
        left.add(labels[0])
        hot = labels[-1]
    return trips


def test_renewed_trips_are_counted_as_by_hand() -> None:
    infos = noisy_infos(steps=300, seeds=2, chains=3, replicas=3)
    counted, all_trips = fed(infos, RenewedTripCounts).trips, fed(infos).trips
    for seed in range(2):
        for chain in range(3):
            assert counted[seed, chain] == renewed_by_hand(infos, seed, chain)
    assert 0 < counted.sum() < all_trips.sum()
    frozen = [replace(info, hot_jump=torch.zeros_like(info.jump)) for info in infos]
    assert fed(frozen, RenewedTripCounts).trips.sum() == 0
    moving = [replace(info, hot_jump=torch.ones_like(info.jump)) for info in infos]
    assert (fed(moving, RenewedTripCounts).trips <= all_trips).all()


@pytest.mark.parametrize(("step", "renewed"), [(1e-3, False), (50.0, True)])
def test_frozen_hot_rungs_renew_nothing(step: float, renewed: bool) -> None:
    """Labels travel between rungs whose states never move."""
    target = MixtureOfGaussians(8, energy="paper").to(torch.float32)
    tempering = ParallelTempering(DMALA(step), [1.0, 0.999, 0.998])
    run = replace(context(target, 1, 20, 3), kernel=tempering)
    suite = MetricSuite(run, {"all": RoundTrips, "renewed": RenewedRoundTrips})
    generator, one = torch.Generator().manual_seed(0), torch.ones(())
    state = tempering.init(target, target.initial((3, 1, 20), generator), one)
    for place in range(1, 61):
        state, info = tempering.step(target, state, one, generator)
        suite.update(place, tempering.draws(state), info)
    found = suite.result()
    assert found["round_trips"].item() > 20
    assert (found["renewed_round_trips"].item() > 0) is renewed
