"""Totals of columns that stay in the states: the same bits, summed once a step, at one temperature alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from samplers import PAS, Kernel, LocallyBalanced, ParallelTempering
from samplers.informed.path_kernel import COLUMN_TOTALS
from samplers.proposals import paths
from samplers.proposals.balancing_functions import barker
from samplers.proposals.draws.distinct_places import ColumnWeights
from samplers.proposals.paths import MoveWeights
from targets import Ising, Potts, Streams, Target
from targets.spaces import level_space
from tests.support.steps.stepping import ONE, chains, seeded

KERNELS: dict[str, Kernel] = {"pas": PAS(2.0), "locally_balanced": LocallyBalanced("barker", sites=3)}
TARGETS: dict[str, Callable[[], Target]] = {
    "bits": lambda: Ising(size=6, coupling=0.3, field=0.2),
    "levels": lambda: Potts(size=6, q=3, coupling=1.0),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("on", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_steps_are_those_of_the_kernel_bit_for_bit(name: str, on: str, dtype: torch.dtype) -> None:
    target, one = TARGETS[on]().to(dtype), ONE.to(dtype)
    plain = KERNELS[name].to(one)
    ends = []
    for kernel in (plain, plain.prepared(target, one)):
        state, streams, said = chains(kernel, target), Streams([0, 1], "chain"), []
        assert (COLUMN_TOTALS in state.aux) is (kernel is not plain)
        for _ in range(40):
            state, info = kernel.step(target, state, one, streams)
            said.append(info.acceptance)
        ends.append((state, torch.stack(said)))
    assert 0.05 < ends[0][1].mean() < 0.95  # some are rejected, and keep the totals they had
    assert torch.equal(ends[0][0].theta, ends[1][0].theta)
    assert torch.equal(ends[0][1], ends[1][1])


def test_a_step_adds_up_the_weights_of_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    added_up = []

    class Counting(ColumnWeights):
        def __init__(self, log_weights: torch.Tensor, rows: int, totals: torch.Tensor | None = None) -> None:
            added_up.append(totals is None)
            super().__init__(log_weights, rows, totals)

    monkeypatch.setattr(paths, "ColumnWeights", Counting)
    target = TARGETS["bits"]()
    for kernel, expected in ((PAS(2.0), 2 * 5), (PAS(2.0).prepared(target, ONE), 1 + 5)):
        added_up.clear()
        state = chains(kernel, target)
        for _ in range(5):
            state, _ = kernel.step(target, state, ONE, Streams([0, 1], "chain"))
        assert sum(added_up) == expected


@pytest.mark.parametrize("on", TARGETS)
def test_a_drawn_path_has_the_probability_of_its_moves(on: str) -> None:
    """There from the state where it was drawn and back from where it ends, as if its moves were listed."""
    target, kernel = TARGETS[on](), PAS(2.0)
    space = level_space("PAS", target.space)
    here = chains(kernel, target)
    weights = MoveWeights(space, here, ONE, barker, False)
    path, theta = weights.path(kernel.lengths(here, space.d, seeded(1)), kernel.longest(space.d), seeded(2))
    back = MoveWeights(space, kernel.evaluated(target, theta), ONE, barker, False)
    assert path.drawn is not None
    assert path.drawn[0].rows > 1
    for moves, drawn in ((weights, path), (back, path.reversed())):
        expected = moves.log_prob(replace(drawn, drawn=None))
        torch.testing.assert_close(moves.log_prob(drawn), expected, rtol=1e-12, atol=1e-12)


def test_a_state_that_was_evaluated_elsewhere_is_added_up() -> None:
    target, kernel = TARGETS["bits"](), PAS(2.0)
    kept = kernel.prepared(target, ONE)
    ends = [
        kept.step(target, chains(each, target), ONE, Streams([0, 1], "chain"))[0] for each in (kept, kernel)
    ]
    assert torch.equal(ends[0].theta, ends[1].theta)
    assert torch.equal(ends[0].aux[COLUMN_TOTALS], ends[1].aux[COLUMN_TOTALS])


def test_a_plain_kernel_does_not_take_totals_of_another_temperature() -> None:
    target, kernel = TARGETS["bits"](), PAS(2.0)
    hot = 0.3 * ONE
    state = kernel.prepared(target, hot).init(target, target.initial((200,), seeded()), hot)
    without = {name: value for name, value in state.aux.items() if name != COLUMN_TOTALS}
    ends = [kernel.step(target, each, ONE, seeded(3))[0] for each in (state, replace(state, aux=without))]
    assert torch.equal(ends[0].theta, ends[1].theta)
    assert COLUMN_TOTALS not in ends[0].aux


@pytest.mark.parametrize("name", KERNELS)
def test_another_inverse_temperature_is_refused(name: str) -> None:
    """At the start as well: the totals would be those of that temperature."""
    target, other = TARGETS["bits"](), 0.5 * ONE
    kept = KERNELS[name].prepared(target, ONE)
    state = chains(kept, target)
    expected = r"^beta must be the inverse temperature that the kernel was prepared"
    with pytest.raises(ValueError, match=expected):
        kept.step(target, state, other, seeded())
    with pytest.raises(ValueError, match=expected):
        kept.init(target, state.theta, other)


def test_only_distinct_coordinates_in_columns_at_one_temperature_keep_totals() -> None:
    """A swap would bring a state, and its totals, to another temperature."""

    class OwnStep(PAS):
        def step(self, target, state, beta, generator):  # type: ignore[no-untyped-def]
            return super().step(target, state, beta, generator)

    bits = TARGETS["bits"]()
    ladder = ParallelTempering(PAS(2.0), [1.0, 0.5])
    assert ladder.prepared(bits, ONE) is ladder
    for kernel in (PAS(2.0, replacement=True), PAS(30.0), LocallyBalanced("sqrt"), OwnStep(2.0)):
        assert kernel.prepared(bits, ONE) is kernel
    kernel = PAS(2.0)
    assert kernel.prepared(bits, torch.tensor([1.0, 0.5], dtype=torch.float64)) is kernel
