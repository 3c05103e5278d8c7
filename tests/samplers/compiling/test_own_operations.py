"""What a compiled step does otherwise than its loops would: large look-ups, and truth values as results."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from samplers import DMALA, ParallelTempering, Swaps
from samplers.compiling import truth_values
from samplers.compiling.counter_streams import CounterStreams, NextNumbers
from samplers.compiling.look_ups import LARGE, MANY, with_own_look_ups
from samplers.compiling.noted_draws import GivenDraws, NotedDraws
from samplers.compiling.truth_values import with_fast_truth_values
from samplers.proposals.tabulated_langevin import TabulatedLangevin
from samplers.stepper import Stepper
from samplers.tensor_tree import tensors
from targets import MixtureOfGaussians, Streams
from tests.support.steps.stepping import started

OWN = "rungwise.looked_up.default"


def operations(graph: torch.fx.GraphModule) -> Counter[str]:
    return Counter(str(node.target) for node in graph.graph.nodes if node.op == "call_function")


@pytest.mark.parametrize(
    ("numbers", "places", "own"),
    [(LARGE // 4, MANY, 1), (LARGE // 4 - 1, MANY, 0), (LARGE // 4, MANY - 1, 0)],
)
def test_many_look_ups_in_a_large_table_are_an_operation_of_their_own(
    numbers: int, places: int, own: int
) -> None:
    table, index = torch.arange(float(numbers)), torch.arange(places) * 7
    graph = make_fx(lambda table, index: table.index_select(0, index) + 1.0)(table, index)
    found = with_own_look_ups(graph)
    assert operations(found)[OWN] == own
    assert torch.equal(found(table, index), index + 1.0)


def test_rows_are_left_to_the_loops() -> None:
    table, index = torch.rand(LARGE // 4, 2), torch.arange(MANY)
    graph = make_fx(lambda table, index: table.index_select(0, index))(table, index)
    assert operations(with_own_look_ups(graph))[OWN] == 0


@pytest.mark.parametrize("can_be", [True, False])
def test_comparisons_that_are_results_are_made_as_bytes_where_that_can_be(
    can_be: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_values, "BYTES_ARE_READ", can_be)

    def compared(a: Tensor, b: Tensor) -> list[Tensor]:
        less = a < b
        return [torch.stack((less, a > 0.0)), less, torch.where(less, a, b), a.isnan(), a != b]

    a, b = torch.randn(40), torch.randn(40)
    a[:3] = torch.tensor([torch.nan, torch.inf, -torch.inf])
    b[:5] = a[:5]
    graph = make_fx(compared)(a, b)
    expected = graph(a, b)
    found = with_fast_truth_values(graph)
    views = operations(found)["aten.view.dtype"]
    assert views == (3 if can_be else 0)  # isnan is none of the comparisons
    for one, other in zip(found(a, b), expected, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


def test_the_numbers_of_a_ladder_lie_apart() -> None:
    """Side by side they make TorchInductor go through all rungs for every sixteen chains."""
    target, one = MixtureOfGaussians(components=8).float(), torch.ones(())
    ladder = ParallelTempering(DMALA(1.0), [1.0, 0.3, 0.0], [26.0, 80.0, 1e4]).to(one).prepared(target, one)
    assert isinstance(ladder.tables, DMALA)
    proposal, betas = ladder.tables.proposal, ladder._laid(one, 3, one).betas
    assert isinstance(proposal, TabulatedLangevin)
    assert torch.equal(betas.flatten(), torch.tensor([1.0, 0.3, 0.0]))
    for each in (betas, proposal.offset, proposal._scale, proposal._cost):
        assert len(each) == 3
        assert each.stride(0) == 2


def test_a_compiled_round_on_a_grid_is_that_of_the_kernel() -> None:
    target = MixtureOfGaussians(components=8).float()
    one, streams = torch.ones(()), CounterStreams([0], "chain")
    kernel = ParallelTempering(DMALA(1.0), [1.0, 0.3, 0.0], [26.0, 80.0, 1e4], Swaps(pairing="sequential"))
    prepared = kernel.to(one).prepared(target, one)
    state = started(prepared, target, (1, MANY), Streams([0], "start"))
    stepper = Stepper(prepared, target, one, streams)
    assert operations(with_own_look_ups(stepper.trace(state).graph))[OWN] == 1
    stepper.compile(state)
    for _ in range(3):
        noted = NotedDraws(streams)
        prepared.step(target, state, one, noted)
        given = GivenDraws(NextNumbers(streams).numbers(noted.draws))
        (found, info), (expected, other) = stepper(state), prepared.step(target, state, one, given)
        differing = (found.theta != expected.theta).any(-1)
        assert float(differing.float().mean()) < 1e-3  # a uniform number within rounding of a threshold
        assert info.swap is not None
        assert other.swap is not None
        assert info.swap.accepted.dtype == torch.bool
        assert float((info.swap.accepted != other.swap.accepted).float().mean()) < 1e-3
        assert [each.dtype for each in tensors(info)] == [each.dtype for each in tensors(other)]
        state = found
