"""Compiled steps of binary networks, whose passes over the rows are operations of their own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers import DMALA, DULA, EDULA, EDULAGLU, GWG, Gibbs, Kernel, ParallelTempering
from samplers.compiling.counter_streams import CounterStreams
from samplers.stepper import Stepper
from targets import Streams
from targets.compiling import onednn
from targets.models import network_passes
from targets.models.binary_bnn import BinaryBNN
from targets.models.row_blocks import RowBlock
from targets.tabular.tabular_data import TabularData
from tests.samplers.test_compiled_steps import compare_traced_and_eager, of_next_step
from tests.support.steps.stepping import ONE, started
from tests.support.targets.small_tables import made_up, sparse

KERNELS: dict[str, tuple[Kernel, str]] = {
    "dmala": (DMALA(0.1), "error_and_grad"),
    "dula": (DULA(0.1), "error_and_grad"),
    "edula": (EDULA(0.1), "error_and_grad"),
    "edula_glu": (EDULAGLU(0.1), "error_and_grad"),
    "gwg": (GWG(), "error_and_grad"),
    "gibbs": (Gibbs(), "log_odds"),
    "pt_dmala": (ParallelTempering(DMALA(0.1), [1.0, 0.5]), "error_and_grad"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_traced_step_is_the_eager_step(name: str) -> None:
    """One pass over the rows, and no operation for each of its chunks."""
    kernel, one_pass = KERNELS[name]
    target = BinaryBNN(made_up(train=90, distinct=70), 3)
    kernel = kernel.to(target.like())
    compare_traced_and_eager(kernel, target)
    state = started(kernel, target, (1, 3), Streams([0], "start"))
    graph = Stepper(kernel, target, ONE, CounterStreams([0], "chain")).trace(state).graph.graph
    called = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    assert [each for each in called if "network" in each] == [f"rungwise.network_{one_pass}.default"]
    assert not [each for each in called if each.startswith(("aten.mm", "aten.bmm", "aten.addmm"))]


def test_a_traced_step_leaves_out_the_constant_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, blocks = [], network_passes.row_blocks

    def noted(inputs: Tensor, slices: list[slice], *, whole: bool) -> list[RowBlock]:
        found = blocks(inputs, slices, whole=whole)
        kept.extend(len(block.inputs) for block in found)
        return found

    monkeypatch.setattr(network_passes, "row_blocks", noted)
    target = BinaryBNN(sparse(200), network_passes.FEW)
    columns = len(target.rows("train").inputs)
    compare_traced_and_eager(DMALA(0.1).to(target.like()), target)
    assert set(kept) == {columns - 3}


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("table", [made_up(train=90, features=9), sparse(90)], ids=["dense", "sparse"])
def test_what_a_compiler_is_told_of_the_operations_is_so(
    table: TabularData, by_column: bool, dtype: torch.dtype
) -> None:
    """Shapes, strides and dtypes, also for states whose coordinates are apart in memory."""
    target = BinaryBNN(table, 20).to(dtype)
    theta = target.initial((5,), Streams([0], "start")).to(dtype)
    theta = theta.T.contiguous().T if by_column else theta
    rows = target.rows("train")
    for operation, given in (
        (torch.ops.rungwise.network_log_odds.default, (theta, 20, rows.inputs)),
        (
            torch.ops.rungwise.network_error_and_grad.default,
            (theta, 20, rows.inputs, rows.outcome, rows.share, 100.0),
        ),
    ):
        torch.library.opcheck(operation, given)


@pytest.mark.parametrize("intel", [True, False])
def test_a_compiled_step_is_that_of_the_kernel(intel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With products in several chunks, which oneDNN does where it is faster."""
    by_onednn, product = [], onednn.product

    def noted(a: Tensor, b: Tensor, bias: Tensor | None = None, *, function: str = "none") -> Tensor:
        by_onednn.append(function)
        return product(a, b, bias, function=function)

    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    monkeypatch.setattr(onednn, "product", noted)
    target = BinaryBNN(made_up(train=1500, features=9), 60).float().requires_grad_(False)
    kernel, one, streams = DMALA(0.1).to(target.like()), torch.ones(()), CounterStreams([0], "chain")
    state = started(kernel, target, (1, 40), Streams([0], "start"))
    stepper = Stepper(kernel, target, one, streams)
    stepper.compile(state)
    for _ in range(3):
        given = of_next_step(kernel, target, state, one, streams)
        by_onednn.clear()
        found, info = stepper(state)
        # A chunk of 19 networks has 19 * 60 * 10 * 752 multiplications in each of two products; of the 40
        # networks two are left over, with too few.
        there = hasattr(torch.ops.mkldnn, "_linear_pointwise") and not intel
        assert by_onednn == (["sigmoid", "none"] * 4 if there else [])
        expected, other = kernel.step(target, state, one, given)
        torch.testing.assert_close(info.acceptance, other.acceptance, rtol=1e-2, atol=1e-3)
        moved = (found.theta != expected.theta).any(-1)
        assert float(moved.float().mean()) < 0.1  # a coordinate whose uniform number is within rounding
        torch.testing.assert_close(found.log_prob[~moved], expected.log_prob[~moved], rtol=1e-5, atol=1e-4)
        assert found.grad is not None
        assert expected.grad is not None
        torch.testing.assert_close(found.grad[~moved], expected.grad[~moved], rtol=1e-3, atol=1e-4)
        state = found
