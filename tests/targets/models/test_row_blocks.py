"""Blocks of rows without their constant columns, against the whole table."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from targets.compiling import onednn
from targets.models import network_passes
from targets.models.binary_bnn import BinaryBNN
from targets.models.network_passes import chunks
from targets.models.row_blocks import RowBlock, row_blocks
from targets.tabular.distinct_rows import DistinctRows
from tests.support.targets.small_tables import sparse, sparse_rows

ROWS = 700
VARYING, CONSTANT = 14, 3
"""Columns of `sparse_rows`."""


def sparse_networks(hidden: int) -> BinaryBNN:
    return BinaryBNN(sparse(ROWS), hidden)


def table() -> Tensor:
    part = sparse(ROWS).train
    return DistinctRows(part.inputs, part.outcome).inputs


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 rows."""
    monkeypatch.setattr(network_passes, "ROWS", {"cpu": 64})
    monkeypatch.setattr(network_passes, "CHUNK", {"cpu": 64 * 20})
    monkeypatch.setattr(network_passes, "FEW", 20)


@pytest.mark.usefixtures("small_blocks")
def test_the_columns_kept_and_the_constant_ones_are_the_table() -> None:
    inputs = table()
    _, slices = next(chunks(1, 20, inputs))
    blocks = row_blocks(inputs, slices, whole=False)
    assert [block.at for block in blocks] == slices
    for block in blocks:
        assert block.kept is not None
        again = block.constant.unsqueeze(1).expand(-1, block.inputs.shape[1]).clone()
        assert not again[block.kept].any()
        again[block.kept] = block.inputs
        assert torch.equal(again, inputs[:, block.at])
        assert block.kept[-1] == len(inputs) - 1


@pytest.mark.usefixtures("small_blocks")
def test_rows_with_rare_values_are_neighbours() -> None:
    """In their order fewer columns vary in a block than in random order; those that never vary, in none."""
    inputs = table()
    mixed = inputs[:, torch.randperm(inputs.shape[1], generator=torch.Generator().manual_seed(0))]
    _, slices = next(chunks(1, 20, inputs))

    def kept(columns: Tensor) -> int:
        return sum(len(block.inputs) for block in row_blocks(columns, slices, whole=False))

    assert kept(mixed) <= len(slices) * (VARYING + 1)
    assert kept(inputs) < 0.6 * kept(mixed)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("relaxed", [False, True])
def test_values_and_gradients_are_those_of_all_columns(relaxed: bool) -> None:
    """Autograd, which takes all columns, has the same of both."""
    target = sparse_networks(20)
    generator = torch.Generator().manual_seed(1)
    theta = torch.rand((3, target.space.d), generator=generator, dtype=torch.float64)
    theta = theta if relaxed else theta.round()
    leaf = theta.clone().requires_grad_()
    expected = target.log_prob(leaf)
    (slope,) = torch.autograd.grad(expected.sum(), leaf)
    log_prob, grad = target.log_prob_and_grad(theta)
    with torch.no_grad():
        torch.testing.assert_close(target.log_prob(theta), expected.detach(), atol=1e-11, rtol=0)
    torch.testing.assert_close(log_prob, expected.detach(), atol=1e-11, rtol=0)
    torch.testing.assert_close(grad, slope, atol=1e-11, rtol=1e-11)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("intel", [True, False], ids=["MKL", "oneDNN"])
def test_in_float32_both_libraries_agree_with_float64(intel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, product = [], onednn.product
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    monkeypatch.setattr(onednn, "SMALLEST", 1)

    def noted(a: Tensor, b: Tensor, **more: str) -> Tensor:
        shapes.append((*a.shape, *b.shape))
        return product(a, b, **more)

    monkeypatch.setattr(onednn, "product", noted)
    target = sparse_networks(20)
    theta = target.initial((3,), torch.Generator().manual_seed(2))
    exact = target.log_prob_and_grad(theta)
    found = target.float().log_prob_and_grad(theta.float())
    assert bool(shapes) == (not intel and hasattr(torch.ops.mkldnn, "_linear_pointwise"))
    assert all(min(shape) < VARYING + CONSTANT + 1 for shape in shapes)
    torch.testing.assert_close(found[0].double(), exact[0], atol=2e-5, rtol=0)
    torch.testing.assert_close(found[1].double(), exact[1], atol=2e-5, rtol=2e-5)


@pytest.mark.usefixtures("small_blocks")
def test_where_the_units_are_few_no_column_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, blocks = [], network_passes.row_blocks

    def noted(inputs: Tensor, slices: list[slice], *, whole: bool) -> list[RowBlock]:
        seen.append(whole)
        return blocks(inputs, slices, whole=whole)

    monkeypatch.setattr(network_passes, "row_blocks", noted)
    for hidden, few in ((19, True), (20, False)):
        target = sparse_networks(hidden)
        target.log_prob_and_grad(target.initial((1,), torch.Generator().manual_seed(2)))
        assert seen == [few]
        seen.clear()


def test_a_table_without_constant_columns_is_not_copied() -> None:
    inputs = torch.cat([torch.rand(4, 32), torch.ones(1, 32)])
    (block,) = row_blocks(inputs, [slice(0, 32)], whole=False)
    assert block.kept is None
    assert block.inputs.data_ptr() == inputs.data_ptr()
    weights = torch.rand(6, 5)
    assert block.weights_kept(weights) is weights


@pytest.mark.parametrize("rows", [0, 1])
def test_a_part_may_have_no_row_or_one(rows: int) -> None:
    part = sparse_rows(rows, 0)
    found = DistinctRows(part.inputs, part.outcome)
    assert len(found) == 16 * rows
    assert float(found.share.sum()) == rows
    assert torch.equal(found.inputs[:-1].T[:rows], part.inputs)
