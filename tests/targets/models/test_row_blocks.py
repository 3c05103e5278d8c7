"""Blocks of rows without their constant columns, against the whole table."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from targets.models import network_passes
from targets.models.binary_bnn import BinaryBNN
from targets.models.network_passes import chunks
from targets.models.row_blocks import row_blocks
from targets.tabular.distinct_rows import DistinctRows
from targets.tabular.tabular_data import Part, TabularData

ROWS, DENSE, SPARSE, CONSTANT = 700, 2, 12, 3


def sparse_part(rows: int, seed: int) -> Part:
    """Two columns of normal numbers, twelve that are -0.2 but in one row of thirty, and three constants."""
    generator = torch.Generator().manual_seed(seed)
    dense = torch.randn((rows, DENSE), generator=generator, dtype=torch.float64)
    rare = torch.rand((rows, SPARSE), generator=generator, dtype=torch.float64)
    constant = torch.tensor([0.0, 1.5, -2.0], dtype=torch.float64).expand(rows, CONSTANT)
    inputs = torch.cat([dense, torch.where(rare < 1 / 30, rare * 30, -0.2), constant], 1)
    inputs = inputs[:, torch.randperm(inputs.shape[1], generator=generator)]
    return Part(inputs, torch.rand(rows, generator=generator, dtype=torch.float64))


def sparse_networks(hidden: int) -> BinaryBNN:
    part = sparse_part(ROWS, 0)
    return BinaryBNN(TabularData("made up", part, sparse_part(5, 1), sparse_part(9, 2)), hidden)


def table() -> Tensor:
    part = sparse_part(ROWS, 0)
    return DistinctRows(part.inputs, part.outcome).inputs


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 rows."""
    monkeypatch.setattr(network_passes, "ROWS", 64)
    monkeypatch.setattr(network_passes, "CHUNK", {"cpu": 64 * 20})


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

    most = len(slices) * (DENSE + SPARSE + 1)
    assert kept(inputs) < 0.6 * kept(mixed) < 0.6 * most + 1e-9


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("relaxed", [False, True])
def test_values_and_gradients_are_those_of_all_columns(relaxed: bool) -> None:
    """`log_prob` with a gradient takes all columns, and autograd is the other way to the gradient."""
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


def test_a_table_without_constant_columns_is_not_copied() -> None:
    inputs = torch.cat([torch.rand(4, 32), torch.ones(1, 32)])
    (block,) = row_blocks(inputs, [slice(0, 32)], whole=False)
    assert block.kept is None
    assert block.inputs.data_ptr() == inputs.data_ptr()
    weights = torch.rand(6, 5)
    assert block.weights(weights) is weights


@pytest.mark.parametrize("rows", [0, 1])
def test_a_part_may_have_no_row_or_one(rows: int) -> None:
    part = sparse_part(rows, 0)
    found = DistinctRows(part.inputs, part.outcome)
    assert len(found) == 16 * rows
    assert float(found.share.sum()) == rows
    assert torch.equal(found.inputs[:-1].T[:rows], part.inputs)
