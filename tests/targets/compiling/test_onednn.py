"""Products by oneDNN: those of MKL but for rounding, given matrices that it has fast loops for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torch.utils._python_dispatch import TorchDispatchMode

from targets.compiling import onednn
from targets.compiling.onednn import SMALLEST, is_faster, linear, product
from targets.compiling.tracing import traced

A, B, BIAS = (
    torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))
    for shape in ((40, 30), (30, 70, 1), (70,))
)
BIASES = {
    "alone": torch.arange(40.0),
    "strided": torch.arange(320.0).view(40, 8)[:, 3],
    "expanded": torch.full((1,), 2.5).expand(40),
    "turned round": torch.arange(40.0).flip(0),
    "a part": torch.arange(50.0)[7:47],
    "one number": torch.full((1,), 2.5),
}
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


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of what oneDNN has multiplied; it gets products of every size, as on a CPU of AMD."""
    done: list[tuple[int, ...]] = []

    def noted(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
        done.append((*a.shape, b.shape[1]))
        return product(a, b, bias)

    monkeypatch.setattr(onednn, "product", noted)
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: False)
    monkeypatch.setattr(onednn, "SMALLEST", 1)
    return done


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


@needs_onednn
@pytest.mark.parametrize(("shape", "rows"), [((), 1), ((40,), 40), ((3, 1, 5), 15), ((0, 4), 0)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_linear_map_is_that_of_torch(
    shape: tuple[int, ...], rows: int, turned: bool, products: list[tuple[int, ...]]
) -> None:
    weight = A.T.contiguous().T if turned else A
    states = torch.rand((*shape, 30), generator=torch.Generator().manual_seed(0))
    found = linear(states, weight, torch.ones(40))
    assert products == ([(rows, 30, 40)] if rows else [])
    expected = torch.nn.functional.linear(states, weight, torch.ones(40))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@needs_onednn
@pytest.mark.parametrize(("rows", "fast"), [(28, False), (29, True)])
def test_the_size_of_a_linear_map_is_that_of_its_product(
    rows: int, fast: bool, products: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onednn, "SMALLEST", SMALLEST)
    assert (rows * 190 * 197 >= SMALLEST) == fast
    linear(torch.ones(rows, 190), torch.ones(197, 190), torch.ones(197))
    assert bool(products) == fast


@needs_onednn
@pytest.mark.parametrize("name", BIASES)
def test_a_bias_may_lie_in_memory_in_any_way(name: str, products: list[tuple[int, ...]]) -> None:
    bias, states = BIASES[name], B[:, :30, 0]
    assert bias.numel() in (1, 40)
    found = linear(states, A, bias)
    assert products
    torch.testing.assert_close(found, torch.nn.functional.linear(states, A, bias), rtol=1e-5, atol=1e-5)


@needs_onednn
@pytest.mark.parametrize("place", range(3))
def test_torch_says_what_is_wrong_with_tensors_of_two_dtypes(
    place: int, products: list[tuple[int, ...]]
) -> None:
    given = [torch.ones(5, 30), A, torch.ones(40)]
    given[place] = given[place].double()
    with pytest.raises(RuntimeError, match=r"dtype|expected|same"):
        linear(*given)
    assert not products


def _mapped(states: Tensor) -> Tensor:
    return linear(states, A, torch.ones(40)).square().sum(-1)


def _autograd(states: Tensor) -> Tensor:
    leaf = states.clone().requires_grad_(True)
    return torch.autograd.grad(_mapped(leaf).sum(), leaf)[0]


def _of_the_weight(states: Tensor) -> Tensor:
    weight = A.clone().requires_grad_(True)
    return torch.autograd.grad(linear(states, weight, torch.ones(40)).square().sum(), weight)[0]


def _forward(states: Tensor) -> Tensor:
    # no_grad leaves forward derivatives as they are.
    with dual_level(), torch.no_grad():
        dual = make_dual(states, states)
        tangent: Tensor | None = unpack_dual(_mapped(dual)).tangent
    assert tangent is not None
    return tangent


def _jit(states: Tensor) -> Tensor:
    found: Tensor = torch.jit.trace(_mapped, (states,), check_trace=False)(states)
    return found


def _autocast(states: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return linear(states, A, torch.ones(40))


def _traced(states: Tensor) -> Tensor:
    with traced():
        return _mapped(states)


TRANSFORMED: dict[str, Callable[[Tensor], Tensor]] = {
    "autograd": _autograd,
    "autograd of the weight": _of_the_weight,
    "forward derivatives": _forward,
    "torch.func.grad": torch.func.grad(lambda states: _mapped(states).sum()),
    "torch.func.jvp": lambda states: torch.func.jvp(_mapped, (states,), (states,))[1],
    "torch.vmap": torch.no_grad()(torch.vmap(_mapped)),
    "torch.compile": torch.no_grad()(torch.compile(_mapped, backend="eager", fullgraph=True)),
    "torch.jit.trace": torch.no_grad()(_jit),
    "autocast": _autocast,
    "our own trace": _traced,
}
"""What torch does with a function beside calling it; oneDNN's operation supports none of it."""


@needs_onednn
@pytest.mark.parametrize("name", TRANSFORMED)
def test_torch_multiplies_where_a_function_is_transformed(
    name: str, products: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    states = torch.rand((5, 30), generator=torch.Generator().manual_seed(0))
    found = TRANSFORMED[name](states)
    assert not products
    _mapped(states)
    assert products
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: True)
    assert torch.equal(found, TRANSFORMED[name](states))
