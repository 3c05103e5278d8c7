"""Flip probabilities from a table: those of the kernel, in traced steps alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, fx

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import DLMC, DMALA, DULA, GWG, DLMCForward, Kernel, ParallelTempering, State
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.fastest_kernel import fastest_kernel
from samplers.informed.informed_kernel import InformedKernel
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.few_differences import MOST, DifferenceTable, difference_table
from samplers.proposals.jump_process import JumpProcess
from samplers.proposals.kept_weights import KeptWeights
from samplers.stepper import Stepper
from targets import Ising, Streams, Target
from targets.compiling.tracing import traced
from tests.support.steps.stepping import ONE

KERNELS: dict[str, Callable[[float | Tensor], MetropolisHastings]] = {
    "dmala": DMALA,
    "dula": DULA,
    "dlmc": DLMC,
    "dlmc, gradient": lambda step_size: DLMC(step_size, differences="gradient"),
    "dlmc_forward": lambda step_size: DLMCForward(step_size, "barker"),
}
every = pytest.mark.parametrize("name", KERNELS)


def lattice(size: int | list[int] = 6) -> Ising:
    return Ising(size=size, coupling=0.5, field=0.2)


@pytest.mark.parametrize("axes", [(), (2, 1), (2, 3)])
def test_each_value_gets_what_the_function_gives_for_it(axes: tuple[int, ...]) -> None:
    values = torch.tensor([-1.5, -0.5, 0.0, 2.0], dtype=torch.float64)
    scale = 1.0 + torch.rand(*axes, 1, generator=torch.Generator().manual_seed(0)).double()
    differences = values[torch.randint(4, (2, 3, 50), generator=torch.Generator().manual_seed(1))]
    found = DifferenceTable(values).of(lambda each: (scale * each).exp(), differences + 1e-9)
    torch.testing.assert_close(found, (scale * differences).exp(), rtol=1e-14, atol=0)
    assert found.shape == differences.shape


@every
def test_the_moves_of_a_traced_step_are_those_of_the_kernel(name: str) -> None:
    """All of a row of q add up to 1, and so do those from the table, at other step sizes and betas, too."""
    target = lattice([2, 3])
    kernel = KERNELS[name](torch.tensor([0.1, 0.5], dtype=torch.float64).reshape(2, 1, 1))
    faster = kernel.specialised(target)
    assert faster is not kernel
    ends = target.space.states()
    beta = torch.tensor([1.0, 0.3, 0.0], dtype=torch.float64).reshape(3, 1)
    state = kernel.evaluated(target, ends.expand(2, 3, *ends.shape))
    rows = []
    for proposal in (kernel.proposal, faster.proposal):
        with traced():
            towards = [
                proposal.log_prob(target.space, state, end.expand_as(state.theta), beta) for end in ends
            ]
        rows.append(torch.stack(towards, -1).exp())
    torch.testing.assert_close(rows[1], rows[0], rtol=1e-12, atol=1e-15)
    torch.testing.assert_close(rows[1].sum(-1), torch.ones(2, 3, len(ends)).double(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "dula" or "," in name else [])
        for name in KERNELS
    ],
)
def test_a_traced_step_has_no_exponential_of_a_bit(name: str) -> None:
    """Nor has that of a jump process a logarithm of one, or of its significand."""
    target = lattice()
    theta = target.initial((1, 8), Streams([0], "start"))
    counts, logarithms = [], []
    for kernel in (KERNELS[name](0.4), KERNELS[name](0.4).specialised(target)):
        state = kernel.init(target, theta, ONE)
        graph = Stepper(kernel, target, ONE, CounterStreams([0], "chain")).trace(state).graph
        counts.append(_of_bits(graph, torch.ops.aten.exp.default, target.space.d))
        logarithms.append(
            _of_bits(graph, torch.ops.aten.log.default, target.space.d)
            + _of_bits(graph, torch.ops.aten.view.dtype, target.space.d)
        )
    assert counts[0] > counts[1] == 0
    assert not name.startswith("dlmc") or logarithms[0] > logarithms[1] == 0


def _of_bits(graph: fx.GraphModule, operation: object, d: int) -> int:
    """How often `graph` computes `operation` for all of `d` coordinates."""
    return sum(node.target is operation and node.meta["val"].shape[-1] == d for node in graph.graph.nodes)


@pytest.mark.parametrize("name", ["dmala", "dlmc"])
def test_compiled_steps_look_up_what_plain_ones_keep(name: str) -> None:
    target, kernel = lattice(), KERNELS[name](0.4)
    plain, compiled = (fastest_kernel(kernel, target, ONE, compiled=compiled) for compiled in (False, True))
    theta = target.initial((1, 8), Streams([0], "start"))
    assert plain.init(target, theta, ONE).aux.keys() > compiled.init(target, theta, ONE).aux.keys()
    rough = Ising(size=4, disorder="gaussian")
    kept = fastest_kernel(kernel, rough, ONE, compiled=True)
    assert isinstance(kept.proposal, KeptWeights)  # type: ignore[attr-defined]


@every
def test_plain_steps_do_without(name: str) -> None:
    """Bit for bit, as the table rounds otherwise."""
    target, kernel = lattice(), KERNELS[name](0.4)
    theta = target.initial((2, 30), Streams([0, 1], "start"))
    ends = []
    for each in (kernel, kernel.specialised(target)):
        state, streams = each.init(target, theta, ONE), Streams([0, 1], "chain")
        for _ in range(20):
            state, _ = each.step(target, state, ONE, streams)
        ends.append(state.theta)
    assert torch.equal(*ends)


@pytest.mark.parametrize("name", ["dmala", "dlmc"])
def test_a_ladder_has_a_table_with_the_step_of_each_rung(name: str) -> None:
    target = lattice([2, 2])
    kernel = ParallelTempering(KERNELS[name](0.4), [1.0, 0.6, 0.2], step_size=[0.2, 0.5, 1.0])
    faster = kernel.prepared(target, ONE)
    assert isinstance(faster, ParallelTempering)
    table = faster.rungs.laid(2).proposal.table  # type: ignore[attr-defined]
    assert torch.equal(table.values, target.flip_differences())
    theta = target.initial((3, 2, 40), Streams([0, 1], "start"))
    ends = []
    for each in (kernel, faster):
        streams = CounterStreams([0, 1], "chain")
        state = each.init(target, theta, ONE)
        stepper = Stepper(each, target, ONE, streams)
        step = stepper.trace(state)
        for _ in range(20):
            state, _ = step(state)
        ends.append(state.theta)
    assert torch.equal(*ends)


def test_compiled_steps_from_a_table_are_those_without_one() -> None:
    target, one = lattice(8).float(), torch.ones(())
    theta = target.initial((1, 50), Streams([0], "start"))
    kernel = DLMC(0.4).to(target.like())
    ends = []
    for each in (kernel, kernel.prepared(target, one), fastest_kernel(kernel, target, one, compiled=True)):
        stepper = Stepper(each, target, one, CounterStreams([0], "chain"))
        state = each.init(target, theta, one)
        stepper.compile(state)
        for _ in range(5):
            state, info = stepper(state)
        assert 0.05 < info.acceptance.mean() < 0.999
        ends.append(state.theta)
    for end in ends[1:]:
        assert (ends[0] != end).double().mean() < 0.02


def test_values_of_another_model_give_other_moves() -> None:
    """The mutant: the table is that of another coupling."""
    target, other = lattice([2, 3]), Ising(size=[2, 3], coupling=0.3, field=0.2)
    table = difference_table(other)
    assert table is not None
    wrong = DLMC(0.4)
    wrong.proposal = JumpProcess(wrong.step_size, wrong.function, wrong.solver, table)
    with traced():
        found = transition_matrix(wrong, target)
        assert (found - transition_matrix(DLMC(0.4), target)).abs().max() > 1e-3


def test_there_is_none_for_many_values() -> None:
    assert difference_table(Ising(size=4, disorder="gaussian")) is None
    many = Ising("random", 20, degree=MOST)
    assert len(many.flip_differences()) > MOST  # type: ignore[arg-type]
    assert difference_table(many) is None
    assert difference_table(Ising("random", 20, degree=3)) is not None


def test_a_kernel_with_another_evaluation_has_none() -> None:
    class Noisy(DMALA):
        def evaluated(self, target: Target, theta: Tensor) -> State:
            return super().evaluated(target, theta)

    class NoisyDLMC(DLMC):
        def evaluated(self, target: Target, theta: Tensor) -> State:
            return InformedKernel.evaluated(self, target, theta)

    others: list[Kernel] = [Noisy(0.6), NoisyDLMC(0.4), GWG()]
    for kernel in others:
        assert kernel.specialised(lattice()) is kernel
