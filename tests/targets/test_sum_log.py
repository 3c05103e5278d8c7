"""Sums of logarithms of positive numbers of any size, as they are and as a compiler gets them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from targets.compiling.tracing import traced
from targets.sum_log import softplus, sum_log, sum_log_any


@pytest.mark.parametrize("as_compiled", [False, True])
@pytest.mark.parametrize("length", [1, 15, 17, 256, 271, 784])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_of_logs_of_numbers_of_any_size(dtype: torch.dtype, length: int, as_compiled: bool) -> None:
    largest = 37.0 if dtype == torch.float32 else 300.0
    generator = torch.Generator().manual_seed(0)
    powers = torch.rand((5, 3, length), generator=generator, dtype=torch.float64).mul_(2.0).sub_(1.0)
    factors = (10.0 ** (largest * powers)).to(dtype)
    factors[0, 0] = 1.0
    factors[0, 1] = torch.finfo(dtype).tiny
    expected = factors.double().log().sum(-1)
    with traced() if as_compiled else contextlib.nullcontext():
        found = sum_log_any(factors)
    assert found.dtype == dtype
    # Each of `length` additions rounds a sum of at most this size.
    size = factors.double().log().abs().sum(-1)
    assert (found.double() - expected).abs().le(4 * torch.finfo(dtype).eps * size * length**0.5).all()


@pytest.mark.parametrize("length", [3, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_compiler_sees_numbers_without_a_logarithm(dtype: torch.dtype, length: int) -> None:
    factors = torch.full((3, length), 0.5, dtype=dtype)
    factors[0, 1], factors[1, 1], factors[2, 1] = torch.nan, 0.0, torch.inf
    with traced():
        found = sum_log_any(factors)
    assert found[0].isnan()
    assert found[1].isneginf()
    assert not found[2].isfinite()


def test_softplus_is_right_to_the_rounding_of_its_dtype() -> None:
    x = torch.linspace(-50.0, 60.0, 1_001, dtype=torch.float64)
    expected = torch.logaddexp(x, torch.zeros_like(x))
    torch.testing.assert_close(softplus(x), expected, rtol=1e-15, atol=0.0)
    x = x.float()
    wide = torch.logaddexp(x.double(), torch.zeros_like(x).double())
    torch.testing.assert_close(softplus(x), wide.float(), rtol=3e-7, atol=0.0)


@pytest.mark.parametrize("sum_of_logs", [sum_log, sum_log_any])
def test_a_compiler_for_a_gpu_sees_one_logarithm_and_one_sum(sum_of_logs: Callable[[Tensor], Tensor]) -> None:
    with FakeTensorMode(), traced():
        graph = make_fx(sum_of_logs)(torch.empty((100, 784), device="cuda"))
    called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert called == ["aten.log.default", "aten.sum.dim_IntList"]
