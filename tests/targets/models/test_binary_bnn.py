"""Binary networks against loops over units and rows, autograd, and one network at a time."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers.discrete.dmala import DMALA
from targets.compiling import onednn
from targets.models import network_passes
from targets.models.binary_bnn import BinaryBNN
from targets.models.network_passes import chunks
from targets.tabular.distinct_rows import DistinctRows, Predictive
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.targets.small_tables import made_up, predicted, squares

FEATURES, HIDDEN = 4, 3


def networks(hidden: int = HIDDEN, seed: int = 0, distinct: int | None = 15, **more: int) -> BinaryBNN:
    return BinaryBNN(made_up(features=FEATURES, seed=seed, distinct=distinct, **more), hidden)


def states(target: BinaryBNN, *shape: int, relaxed: bool = False) -> Tensor:
    generator = torch.Generator().manual_seed(5)
    if relaxed:
        return torch.rand((*shape, target.space.d), generator=generator, dtype=torch.float64)
    return target.initial(shape, generator)


@pytest.mark.parametrize("relaxed", [False, True])
def test_log_prob_is_minus_100_times_the_mean_squared_error(relaxed: bool) -> None:
    target, part = networks(), made_up(features=FEATURES, distinct=15).train
    theta = states(target, 6, relaxed=relaxed)
    each = [predicted(one, part.inputs, HIDDEN) for one in theta]
    expected = torch.stack([-100.0 * squares(prediction, part) for prediction in each])
    torch.testing.assert_close(target.log_prob(theta), expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(target.log_prob_and_grad(theta)[0], expected, atol=1e-12, rtol=0)


def test_equal_rows_are_evaluated_once_and_weighted_by_their_number() -> None:
    part = made_up(features=FEATURES, distinct=15).train
    rows = DistinctRows(part.inputs, part.outcome)
    distinct = len({tuple(row) for row in part.inputs.tolist()})
    assert len(rows) == 16 > distinct == int((rows.share > 0).sum())
    assert torch.equal(rows.inputs[:, distinct], rows.inputs[:, distinct - 1])
    prediction = torch.rand(len(rows), dtype=torch.float64)
    place = [rows.inputs[:-1].T.tolist().index(row) for row in part.inputs.tolist()]
    expected = squares(prediction[place], part)
    found = (prediction - rows.outcome).square() @ rows.share + rows.spread
    torch.testing.assert_close(found, expected, atol=1e-14, rtol=0)


@pytest.mark.parametrize("shape", [(), (7,), (3, 2, 5)])
def test_the_gradient_is_that_of_autograd(shape: tuple[int, ...]) -> None:
    target = networks()
    theta = states(target, *shape, relaxed=True)
    log_prob, grad = target.log_prob_and_grad(theta)
    leaf = theta.clone().requires_grad_()
    (expected,) = torch.autograd.grad(target.log_prob(leaf).sum(), leaf)
    assert log_prob.shape == shape
    torch.testing.assert_close(grad, expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize(("chunk", "rows"), [(1, 1), (48, 8), (200, 16), (1000, 16), (10**6, 512)])
def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch, chunk: int, rows: int) -> None:
    target = networks(distinct=None, train=101)
    theta = states(target, 9)
    expected = (*target.log_prob_and_grad(theta), target.logits(theta, "test"))
    monkeypatch.setattr(network_passes, "CHUNK", {"cpu": chunk})
    monkeypatch.setattr(network_passes, "ROWS", {"cpu": rows})
    found = (*target.log_prob_and_grad(theta), target.logits(theta, "test"))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-11, rtol=1e-12)


@pytest.mark.parametrize("networks_", [1, 7, 50, 5000])
@pytest.mark.parametrize("hidden", [1, 10, 100, 500])
def test_chunks_are_small_enough_and_cover_all_rows(networks_: int, hidden: int) -> None:
    """The rows of a chunk are rounded up to a multiple of 16, and by so much it may be larger."""
    target = BinaryBNN(made_up(train=3000), hidden)
    inputs = target.rows("train").inputs
    seen = []
    for group, stretches in chunks(networks_, hidden, inputs):
        seen += list(range(group.start, group.stop))
        assert [row for at in stretches for row in range(at.start, at.stop)] == list(range(3008))
        widest = max(at.stop - at.start for at in stretches)
        assert (group.stop - group.start) * hidden * (widest - 15) <= network_passes.CHUNK["cpu"]
    assert seen == list(range(networks_))


def test_50_chains_of_one_batch_move_as_chains_that_are_evaluated_one_by_one() -> None:
    """The same random numbers for 20 steps; values and gradients agree in one step, and so do the ends."""

    class OneByOne(BinaryBNN):
        def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
            each = [super(OneByOne, self).log_prob_and_grad(one) for one in theta]
            return torch.stack([u for u, _ in each]), torch.stack([g for _, g in each])

    data, one = made_up(distinct=15), torch.ones((), dtype=torch.float64)
    batch, one_by_one = (
        cls(data, 10).log_prob_and_grad(states(cls(data, 10), 50)) for cls in (BinaryBNN, OneByOne)
    )
    torch.testing.assert_close(batch, one_by_one, atol=1e-12, rtol=0)
    ends = []
    for target in (BinaryBNN(data, 10), OneByOne(data, 10)):
        kernel, generator = DMALA(0.1).to(target.like()), torch.Generator().manual_seed(3)
        state = kernel.init(target, states(target, 50), one)
        for _ in range(20):
            state, _ = kernel.step(target, state, one, generator)
        ends.append(state)
    assert torch.equal(ends[0].theta, ends[1].theta)
    assert not torch.equal(ends[0].theta, states(target, 50))
    torch.testing.assert_close(ends[0].log_prob, ends[1].log_prob, atol=1e-11, rtol=0)


@pytest.mark.parametrize("intel", [True, False], ids=["MKL", "oneDNN"])
def test_float32_agrees_with_float64(intel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, product = [], onednn.product
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    monkeypatch.setattr(onednn, "SMALLEST", 1)
    monkeypatch.setattr(onednn, "product", lambda *given, **more: calls.append(1) or product(*given, **more))
    target = networks(hidden=100, distinct=None, train=500)
    theta = states(target, 5)
    exact = target.log_prob_and_grad(theta)
    found = target.float().log_prob_and_grad(theta.float())
    assert bool(calls) == (not intel and hasattr(torch.ops.mkldnn, "_linear_pointwise"))
    torch.testing.assert_close(target.log_prob(theta.float()).double(), exact[0], atol=2e-4, rtol=0)
    torch.testing.assert_close(found[0].double(), exact[0], atol=2e-4, rtol=0)
    torch.testing.assert_close(found[1].double(), exact[1], atol=2e-4, rtol=2e-5)


def test_large_inputs_do_not_overflow() -> None:
    data = made_up()
    data.train.inputs.mul_(1e4)
    target = BinaryBNN(data, 500).float()
    log_prob, grad = target.log_prob_and_grad(states(target, 3).float())
    assert log_prob.isfinite().all()
    assert grad.isfinite().all()


def test_only_slopes_that_could_make_products_denormal_are_cut() -> None:
    slope = torch.tensor([1e-18, -1e-18, 1e-20, -1e-30])
    assert torch.equal(
        network_passes._without_tiny(slope.clone()), slope * torch.tensor([1.0, 1.0, 0.0, 0.0])
    )


def test_the_slopes_of_certain_outputs_are_not_denormal(monkeypatch: pytest.MonkeyPatch) -> None:
    target = networks(hidden=3000, distinct=None, train=200).float()
    theta = states(target, 5).float()
    expected = target.double().log_prob_and_grad(theta.double())[1]
    backward, slopes = network_passes._sigmoid_backward, []

    def noted(slope: Tensor, sigmoid: Tensor) -> Tensor:
        product = backward(slope, sigmoid)
        slopes.append(product.clone())
        return product

    monkeypatch.setattr(network_passes, "_sigmoid_backward", noted)
    found = target.float().log_prob_and_grad(theta)[1]
    denormal = [int(((each != 0) & (each.abs() < torch.finfo(each.dtype).tiny)).sum()) for each in slopes]
    of_outputs, of_units = denormal[0::2], denormal[1::2]
    assert sum(of_outputs) > 0
    assert sum(of_units) == 0
    torch.testing.assert_close(found.double(), expected, atol=2e-4, rtol=2e-5)


def test_logits_are_those_of_the_distinct_rows() -> None:
    target = networks()
    theta = states(target, 2, 3)
    rows = target.rows("test")
    found = target.logits(theta, "test").sigmoid()
    assert found.shape == (2, 3, len(rows))
    there = rows.share > 0
    expected = predicted(theta[1, 2], rows.inputs[:-1, there].T, HIDDEN)
    torch.testing.assert_close(found[1, 2, there], expected, atol=1e-13, rtol=0)
    assert isinstance(target, Predictive)


def test_an_evaluation_does_not_synchronise_with_the_host() -> None:
    target = networks()
    theta = states(target, 4)
    with NoHostSync():
        target.log_prob_and_grad(theta)
        target.log_prob(theta)
