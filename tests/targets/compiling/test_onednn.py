"""Products by oneDNN: those of MKL but for rounding, given matrices that it has fast loops for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from targets.compiling import onednn
from targets.compiling.onednn import SMALLEST, is_faster, product

A, B, BIAS = (
    torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))
    for shape in ((40, 30), (30, 70, 1), (70,))
)
MATRICES = {
    "rows": (A, B[..., 0]),
    "columns": (A, B[..., 0].T.contiguous().T),
    "a part of the rows": (A[:, 3:20], B[3:20, :, 0]),
    "a part of the columns": (A, B[:, 16:48, 0]),
    "every second column": (A, B[:, ::2, 0]),
    "the transposed of a part": (B[:, 16:48, 0].T, A.T),
}


class Given(TorchDispatchMode):
    """Notes the matrices that oneDNN is given."""

    def __init__(self) -> None:
        super().__init__()
        self.matrices: list[Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.mkldnn._linear_pointwise.default:
            self.matrices += args[:2]
        return func(*args, **(kwargs or {}))


needs_onednn = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this torch has no oneDNN"
)


@needs_onednn
@pytest.mark.parametrize("name", MATRICES)
def test_it_is_the_product(name: str) -> None:
    a, b = MATRICES[name]
    with Given() as given:
        found = product(a, b)
    torch.testing.assert_close(found, (a.double() @ b.double()).float(), rtol=1e-5, atol=1e-5)
    # With gaps between the rows of the second one it takes a thousand times as long.
    _, right = given.matrices
    assert right.is_contiguous() or right.T.is_contiguous()


@needs_onednn
def test_a_bias_is_added_and_a_function_is_taken_of_the_sum() -> None:
    b = B[..., 0]
    torch.testing.assert_close(product(A, b, BIAS), A @ b + BIAS, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(product(A, b, BIAS, function="sigmoid"), (A @ b + BIAS).sigmoid())


@pytest.mark.parametrize(
    ("intel", "dtype", "multiplications", "faster"),
    [
        (False, torch.float32, SMALLEST, True),
        (False, torch.float32, SMALLEST - 1, False),
        (False, torch.float64, SMALLEST, False),
        (True, torch.float32, SMALLEST, False),
    ],
)
def test_it_is_for_large_products_in_float32_on_cpus_that_are_not_from_intel(
    intel: bool, dtype: torch.dtype, multiplications: int, faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    there = hasattr(torch.ops.mkldnn, "_linear_pointwise")
    assert is_faster(torch.zeros(1, dtype=dtype), multiplications) == (faster and there)
    assert not is_faster(torch.zeros(1, dtype=dtype, device="meta"), multiplications)
