"""Traced and compiled steps: those of the eager kernel, with the same random numbers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, fx

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import AB, DMALA, EDMALA, EDMALAGLU, PAS, Info, Kernel, ParallelTempering, ReleasedDMALA, State
from samplers.compiling.counter_streams import CounterStreams, NextNumbers
from samplers.compiling.matrix_products import with_fast_products
from samplers.compiling.not_compiled import NotCompiledError
from samplers.compiling.noted_draws import GivenDraws, NotedDraws
from samplers.stepper import Stepper
from samplers.tensor_tree import maker, tensors
from targets import RBM, FunctionTarget, IndependentBits, Ising, Streams, Target
from targets.compiling import onednn
from targets.randomness import Generator
from targets.spaces import Binary
from tests.samplers.test_conformance import EVERY, SAMPLERS, SMALL
from tests.support.checks import dkw_band, largest_gap, sampled_rows
from tests.support.steps.stepping import ONE, seeded, started, walked


class Compiled(Kernel):
    """The steps of `kernel` on a target, compiled at first use."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.axes, self.exact = kernel, kernel.axes, kernel.exact
        self.stepper: Stepper | None = None

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return self.kernel.init(target, theta, beta)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        if self.stepper is None:
            self.stepper = Stepper(self.kernel, target, beta, CounterStreams([0], "chain"))
            self.stepper.compile(state)
        return self.stepper(state)


def of_next_step(
    kernel: Kernel, target: Target, state: State, beta: Tensor, streams: CounterStreams
) -> GivenDraws:
    """The random numbers of the next compiled step, for the kernel's own."""
    noted = NotedDraws(streams)
    kernel.step(target, state, beta, noted)
    return GivenDraws(NextNumbers(streams).numbers(noted.draws))


QUICK = (
    *("dmala-rbm", "acs-ordinal", "mala", "pt_odd_even", "st_gibbs"),
    *("wolff-ising", "swendsen_wang-potts", "positionwise_edmala"),
)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]
)
def test_a_traced_step_is_the_eager_step(name: str) -> None:
    """One graph without a value on the host, which uses up the random numbers of one step."""
    compare_traced_and_eager(*EVERY[name][:2])


@pytest.mark.parametrize(
    "kernel",
    [DMALA(1.0), DMALA(1.0, norm=1.0), AB(1.0, 0.75), ReleasedDMALA(1.0), EDMALA(1.0), EDMALAGLU(1.0)],
)
def test_a_gradient_that_no_state_enters_is_traced(kernel: Kernel) -> None:
    target = IndependentBits(4).double()
    compare_traced_and_eager(kernel, target)
    compare_traced_and_eager(kernel.prepared(target, ONE), target)


def compare_traced_and_eager(kernel: Kernel, target: Target) -> None:
    """Three steps."""
    state, _ = walked(kernel, target, started(kernel, target, (2, 3), seeded()), 1, seeded(1), ONE)
    streams = CounterStreams([4, 5], "chain")
    traced = Stepper(kernel, target, ONE, streams).trace(state)
    asked = [str(node.target) for node in traced.graph.graph.nodes if "_local_scalar" in str(node.target)]
    assert asked == []
    for _ in range(3):
        given = of_next_step(kernel, target, state, ONE, streams)
        found, expected = traced(state), kernel.step(target, state, ONE, given)
        assert found[1].evaluations == expected[1].evaluations
        for one, other in zip(tensors(found), tensors(expected), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
        state = found[0]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("dmala", "binary"),
        *(
            pytest.param(name, where, marks=pytest.mark.slow)
            for name, where in (
                ("dmala", "ordinal"),
                ("dula", "categorical"),
                ("ab", "binary"),
                ("gibbs", "binary"),
                ("gwg", "ordinal"),
                ("rbm_gibbs", "rbm"),
            )
        ),
    ],
)
def test_compiled_steps_are_drawn_from_the_enumerated_rows(name: str, where: str) -> None:
    """False alarm 1e-6 a test (DKW); a compiled step without its acceptance is found."""
    target, kernel, draws = SMALL[where], SAMPLERS[name](2.0), 50_000
    frequencies = sampled_rows(Compiled(kernel), target, 0.7, draws)
    matrix = transition_matrix(kernel, target, 0.7)
    assert largest_gap(frequencies, matrix) <= dkw_band(draws, len(matrix)) < 0.04


@pytest.mark.slow
def test_a_traced_path_of_places_in_columns_is_the_eager_one() -> None:
    """On more coordinates than can be enumerated: of 64, in columns of two."""
    kernel, target = PAS(2.0), Ising(size=8, disorder="gaussian")
    state = kernel.init(target, target.initial((2, 50), seeded()), ONE)
    streams = CounterStreams([4, 5], "chain")
    traced = Stepper(kernel, target, ONE, streams).trace(state)
    for _ in range(5):
        given = of_next_step(kernel, target, state, ONE, streams)
        found, expected = traced(state), kernel.step(target, state, ONE, given)
        for one, other in zip(tensors(found), tensors(expected), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
        state = found[0]


def test_compiled_steps_from_tables_are_drawn_from_the_enumerated_rows() -> None:
    target, kernel, draws = SMALL["ordinal"], SAMPLERS["dmala"](2.0), 20_000
    beta = torch.tensor(0.7, dtype=torch.float64)
    prepared = kernel.prepared(target, beta)
    assert prepared is not kernel
    frequencies = sampled_rows(Compiled(prepared), target, 0.7, draws)
    matrix = transition_matrix(kernel, target, 0.7)
    assert largest_gap(frequencies, matrix) <= dkw_band(draws, len(matrix)) < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("intel", [True, False])
def test_compiled_steps_of_a_large_rbm_are_eager_steps_but_for_rounding(
    intel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So large that the faster library does its products; a parameter that changes in place is seen."""
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    target = RBM(96, 128).float().requires_grad_(False)
    kernel = ParallelTempering(DMALA(0.3), [1.0, 0.8]).to(target.like())
    assert onednn.SMALLEST < 2 * 2 * 64 * 96 * 128
    one, streams = torch.ones(()), CounterStreams([0, 1], "chain")
    state = started(kernel, target, (2, 64), Streams([0, 1], "start"))
    stepper = Stepper(kernel, target, one, streams)
    stepper.compile(state)
    for scale in (1.0, 3.0):
        target.weight.mul_(scale)
        state = kernel.refreshed(target, state, one)
        given = of_next_step(kernel, target, state, one, streams)
        (found, info), (expected, other) = stepper(state), kernel.step(target, state, one, given)
        torch.testing.assert_close(info.acceptance, other.acceptance, rtol=1e-3, atol=1e-4)
        moved = (found.theta != expected.theta).any(-1)
        assert float(moved.float().mean()) < 0.05  # a coordinate whose uniform number is within rounding
        torch.testing.assert_close(found.log_prob[~moved], expected.log_prob[~moved], rtol=1e-5, atol=1e-4)
        state = found


@pytest.mark.parametrize("intel", [True, False])
def test_the_products_of_a_large_rbm_are_left_to_one_library(
    intel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    target = RBM(96, 128).float().requires_grad_(False)
    streams = CounterStreams([0], "chain")
    state = started(DMALA(0.3), target, (1, 128), Streams([0], "start"))
    traced = Stepper(DMALA(0.3), target, torch.ones(()), streams).trace(state)
    graph = with_fast_products(traced.graph)
    called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert called.count("aten.mm.default") == (2 if intel else 0)
    assert called.count("rungwise.product.default") == (0 if intel else 2)
    assert "aten.addmm.default" not in called


def test_a_tensor_in_two_places_of_the_first_state_is_two_inputs() -> None:
    """The energies that released swaps remember are those of the state, until the first round."""
    kernel, target, _ = EVERY["pt_released"]
    streams = CounterStreams([4, 5], "chain")
    state = kernel.start(target, target.initial((*kernel.axes, 2, 30), seeded()), ONE, streams)
    assert state.aux["tempering.memory"] is state.log_prob
    traced = Stepper(kernel, target, ONE, streams).trace(state)
    for _ in range(2):
        given = of_next_step(kernel, target, state, ONE, streams)
        expected, (state, _) = kernel.step(target, state, ONE, given)[0], traced(state)
        for one, other in zip(tensors(state), tensors(expected), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_a_maker_gives_the_same_form() -> None:
    kernel, target, _ = EVERY["pt_odd_even"]
    tree = kernel.step(target, started(kernel, target, (2, 3), seeded()), ONE, seeded())
    made = maker(tree)(tensors(tree))
    assert [type(part) for part in made] == [State, Info]
    assert made[0].aux.keys() == tree[0].aux.keys()
    assert made[1].evaluations == tree[1].evaluations
    for one, other in zip(tensors(made), tensors(tree), strict=True):
        assert one is other


def test_tracing_uses_up_no_random_numbers() -> None:
    kernel, target, _ = EVERY["dmala-binary"]
    streams = CounterStreams([0], "chain")
    streams.uniform((1, 3), (), torch.float64)
    Stepper(kernel, target, ONE, streams).trace(started(kernel, target, (1, 3), seeded()))
    assert int(streams.calls) == 1


def test_a_step_is_compiled_with_random_numbers_from_a_counter_alone() -> None:
    kernel, target, _ = EVERY["dmala-binary"]
    stepper = Stepper(kernel, target, ONE, Streams([0], "chain"))
    with pytest.raises(NotCompiledError, match=r"the random numbers of CounterStreams, Streams was given$"):
        stepper.trace(started(kernel, target, (1, 3), seeded()))


@pytest.mark.parametrize(
    ("log_prob", "says"),
    [
        (
            lambda theta: theta.sum(-1) if theta.sum() > 0 else -theta.sum(-1),
            r"it asks for aten\._local_scalar_dense \(test_compiled_steps\.py, line \d+\)",
        ),
        (
            lambda theta: theta.sum(-1) + torch.nn.functional.one_hot(theta.long(), 2).sum((-2, -1)),
            r"it asks for aten\._local_scalar_dense \(test_compiled_steps\.py, line \d+\)",
        ),
        (
            lambda theta: theta[theta.sum(-1) >= 0].sum(-1).reshape(theta.shape[:-1]),
            r"the shape that aten\.index\.Tensor gives depends on values",
        ),
    ],
)
def test_a_target_that_cannot_be_traced_is_named_with_the_operation(log_prob: object, says: str) -> None:
    target = FunctionTarget(log_prob, Binary(3)).double()  # type: ignore[arg-type]
    kernel = DMALA(1.0)
    state = started(kernel, target, (1, 4), seeded())
    with pytest.raises(
        NotCompiledError, match=rf"^a step of DMALA on FunctionTarget cannot be compiled: {says}$"
    ):
        Stepper(kernel, target, ONE, CounterStreams([0], "chain")).trace(state)


FORKED = """
import os, torch
from samplers import DMALA
from samplers.compiling.counter_streams import CounterStreams
from samplers.stepper import Stepper
from targets import Bernoulli4
target, one, streams = Bernoulli4(), torch.ones((), dtype=torch.float64), CounterStreams([0], "chain")
state = DMALA(1.0).init(target, target.initial((1, 2), streams), one)
Stepper(DMALA(1.0).to(one), target, one, streams).trace(state)
torch.ones(1, requires_grad=True).backward()
child = os.fork()
if not child:
    torch.ones(1, requires_grad=True).backward()
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_has_traced_a_step_can_compute_gradients_and_fork() -> None:
    assert subprocess.run([sys.executable, "-c", FORKED], check=False).returncode == 0


def test_a_compiler_that_gives_another_step_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one with other random numbers; TorchInductor's multiples of an index did that to Philox."""

    def wrong(graph: fx.GraphModule, *_: object, **options: object) -> Callable[..., Sequence[Tensor]]:
        return lambda *given: graph(
            *(each + (each.dtype == torch.int64 and not each.dim()) for each in given)
        )

    kernel, target, _ = EVERY["dmala-ordinal"]
    state = started(kernel, target, (1, 40), seeded())
    monkeypatch.setattr("torch._inductor.compile", wrong)
    with pytest.raises(NotCompiledError, match=r"^the compiler gave a step that is not the kernel's$"):
        Stepper(kernel, target, ONE, CounterStreams([0], "chain")).compile(state)
    monkeypatch.setattr("torch._inductor.compile", lambda graph, _, options: graph)
    Stepper(kernel, target, ONE, CounterStreams([0], "chain")).compile(state)


class Counting(DMALA):
    """Moves to states that NumPy counts up from those where its chains stand."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        again = torch.from_numpy((after.theta.numpy() + 1.0) % target.space.levels)  # type: ignore[attr-defined]
        return self.evaluated(target, again), info


def test_a_step_whose_values_leave_the_tensors_is_refused() -> None:
    """A trace would keep what NumPy gave when it was made, and every step would lead to the same states."""
    kernel, target = Counting(1.0), EVERY["dmala-ordinal"][1]
    state = started(kernel, target, (1, 40), seeded())
    says = "a step of Counting on .* cannot be compiled: it computes with NumPy, or on the host otherwise"
    with pytest.raises(NotCompiledError, match=f"^{says}$"):
        Stepper(kernel, target, ONE, CounterStreams([0], "chain")).trace(state)
