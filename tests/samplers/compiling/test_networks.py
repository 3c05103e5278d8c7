"""Compiled steps of binary networks, whose passes over the rows are operations of their own."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from samplers import DMALA, DULA, EDULA, EDULAGLU, GWG, Gibbs, Kernel, ParallelTempering
from samplers.compiling.counter_streams import CounterStreams
from samplers.stepper import Stepper
from targets import Streams
from targets.compiling import onednn
from targets.models.binary_bnn import BinaryBNN
from tests.samplers.test_compiled_steps import compare_traced_and_eager, of_next_step
from tests.support.steps.stepping import ONE, started
from tests.support.targets.small_tables import made_up

KERNELS: dict[str, tuple[Kernel, Counter[str]]] = {
    "dmala": (DMALA(0.1), Counter(sums=1)),
    "dula": (DULA(0.1), Counter(sums=1)),
    "edula": (EDULA(0.1), Counter(sums=1)),
    "edula_glu": (EDULAGLU(0.1), Counter(sums=1)),
    "gwg": (GWG(), Counter(sums=1)),
    "gibbs": (Gibbs(), Counter(log_odds=1)),
    "pt_dmala": (ParallelTempering(DMALA(0.1), [1.0, 0.5]), Counter(sums=1)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_traced_step_is_the_eager_step(name: str) -> None:
    """One pass over the rows, and no operation for each of its chunks."""
    kernel, passes = KERNELS[name]
    target = BinaryBNN(made_up(train=90, distinct=70), 3)
    kernel = kernel.to(target.like())
    compare_traced_and_eager(kernel, target)
    state = started(kernel, target, (1, 3), Streams([0], "start"))
    graph = Stepper(kernel, target, ONE, CounterStreams([0], "chain")).trace(state).graph.graph
    called = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    own = Counter(name.split(".")[1].removeprefix("network_") for name in called if "network_" in name)
    assert own == passes


@pytest.mark.parametrize("intel", [True, False])
def test_a_compiled_step_is_that_of_the_kernel(intel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With products in several chunks, large enough for the faster library."""
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    target = BinaryBNN(made_up(train=1500, features=9), 60).float().requires_grad_(False)
    kernel, one, streams = DMALA(0.1).to(target.like()), torch.ones(()), CounterStreams([0], "chain")
    state = started(kernel, target, (1, 40), Streams([0], "start"))
    assert onednn.SMALLEST < 10 * 60 * 512 * 20
    stepper = Stepper(kernel, target, one, streams)
    stepper.compile(state)
    for _ in range(3):
        given = of_next_step(kernel, target, state, one, streams)
        (found, info), (expected, other) = stepper(state), kernel.step(target, state, one, given)
        torch.testing.assert_close(info.acceptance, other.acceptance, rtol=1e-2, atol=1e-3)
        moved = (found.theta != expected.theta).any(-1)
        assert float(moved.float().mean()) < 0.1  # a coordinate whose uniform number is within rounding
        torch.testing.assert_close(found.log_prob[~moved], expected.log_prob[~moved], rtol=1e-5, atol=1e-4)
        assert found.grad is not None
        assert expected.grad is not None
        torch.testing.assert_close(found.grad[~moved], expected.grad[~moved], rtol=1e-3, atol=1e-4)
        state = found
