"""Steps that write the next state over the one that they take: as on a CUDA device, here on the CPU."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.overwriting import overwriting
from samplers.stepper import Stepper
from samplers.tensor_tree import mapped, tensors
from tests.samplers.test_compiled_steps import QUICK
from tests.samplers.test_conformance import EVERY
from tests.support.steps.stepping import ONE, equal, seeded, started, walked


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]
)
def test_the_graph_leaves_the_next_state_in_its_inputs(name: str) -> None:
    kernel, target, _ = EVERY[name]
    state, _ = walked(kernel, target, started(kernel, target, (2, 3), seeded()), 1, seeded(1), ONE)
    traced = Stepper(kernel, target, ONE, CounterStreams([4, 5], "chain")).trace(state)
    count = len(list(tensors(state)))
    inputs = [*(each.clone() for each in tensors(state)), *traced.parts]
    expected = [each.clone() for each in traced.graph(*inputs)]
    rest = overwriting(traced.graph, inputs, count)(*inputs)
    assert len(expected) == count + len(rest)
    for mine, theirs in zip([*inputs[:count], *rest], expected, strict=True):
        assert torch.equal(mine, theirs)


def test_results_that_lie_in_an_input_are_kept_from_its_next_value() -> None:
    def step(a: Tensor, b: Tensor, part: Tensor) -> list[Tensor]:
        return [b, a + b, a, b.view(3, 1), part]

    inputs = [torch.arange(3.0), torch.arange(3.0) + 10, torch.ones(2)]
    graph = make_fx(step)(*inputs)
    expected = [each.clone() for each in graph(*inputs)]
    rest = overwriting(graph, inputs, 2)(*inputs)
    for mine, theirs in zip([*inputs[:2], *rest], expected, strict=True):
        assert torch.equal(mine, theirs)
    assert rest[-1] is inputs[-1]


def test_a_compiled_step_writes_over_a_state_and_leaves_one_alone() -> None:
    kernel, target, _ = EVERY["dmala-rbm"]
    state = started(kernel, target, (2, 3), seeded())
    kept = mapped(state, Tensor.clone)
    streams = CounterStreams([4, 5], "chain")
    compiled = Stepper(kernel, target, ONE, streams).trace(state).compiled(state, overwrites=True)
    assert int(streams.calls) == 0
    with streams.unused():
        expected = compiled(state)
    assert equal(state, kept)
    assert not equal(expected[0], kept)
    places = mapped(state, Tensor.clone)
    found = compiled.overwrite(places)
    assert int(streams.calls) > 0
    assert equal(found, expected)
    for mine, place in zip(tensors(found[0]), tensors(places), strict=True):
        assert mine is place
