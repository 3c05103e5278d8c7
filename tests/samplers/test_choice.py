"""Which chains move: every bit of the proposal where it is accepted, every bit of the old state elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from samplers.choice import choose, choose_rows
from samplers.kernel import State


def noise(*shape: int, dtype: torch.dtype) -> Tensor:
    """Any bits at all: NaN with payloads, infinities, minus zero."""
    whole = torch.int32 if dtype == torch.float32 else torch.int64
    limits = torch.iinfo(whole)
    bits = torch.randint(limits.min, limits.max, shape, dtype=whole)
    bits.view(dtype)[..., 0] = -0.0
    bits.view(dtype)[..., 1] = torch.inf
    return bits.view(dtype)


def bits(x: Tensor) -> Tensor:
    return x.view(torch.int32 if x.dtype == torch.float32 else torch.int64)


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "part of rows": lambda x: torch.cat([x, x], -1)[..., : x.shape[-1]],
    "one number in": lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 63, 64, 66, 784])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_are_moved_bit_for_bit(dtype: torch.dtype, d: int, layout: str) -> None:
    torch.manual_seed(d)
    new, old = (LAYOUTS[layout](noise(3, 5, d, dtype=dtype)) for _ in range(2))
    mask = torch.rand(3, 5) < 0.5
    assert mask.any()
    assert not mask.all()
    chosen = choose_rows(mask, new, old)
    assert chosen.dtype == dtype
    for place in range(15):
        at = divmod(place, 5)
        assert torch.equal(bits(chosen[at].contiguous()), bits((new if mask[at] else old)[at].contiguous()))


def test_a_single_row_of_any_stride_is_moved() -> None:
    """A product of transposed matrices gives one row as contiguous with strides of 1."""
    new = torch.ones(128).as_strided((1, 1, 128), (1, 1, 1))
    assert new.is_contiguous()
    for mask in (torch.tensor([[True]]), torch.tensor([[False]])):
        chosen = choose_rows(mask, new, torch.zeros(1, 1, 128))
        assert torch.equal(chosen, torch.full((1, 1, 128), float(mask)))


def test_a_mask_for_fewer_axes_serves_all_rows_of_a_chain() -> None:
    new, old = torch.ones(3, 64, 64), torch.zeros(3, 64, 64)
    chosen = choose_rows(torch.tensor([True, False, True]), new, old)
    assert torch.equal(chosen.amin((1, 2)), torch.tensor([1.0, 0.0, 1.0]))
    assert torch.equal(chosen.amax((1, 2)), torch.tensor([1.0, 0.0, 1.0]))


def test_a_position_goes_on_and_a_companion_goes_with_its_chain() -> None:
    def state(value: float, turn: int) -> State:
        wide = torch.full((2, 64), value)
        aux = {"companion": wide + 2, "count": wide[:, 0].long() + 3, "turn": torch.tensor(turn)}
        return State(wide, wide[:, 0], wide + 1, aux)

    after = choose(torch.tensor([True, False]), state(5.0, 1), state(0.0, 0))
    assert after.theta[:, 0].tolist() == after.log_prob.tolist() == [5.0, 0.0]
    assert after.grad is not None
    assert after.grad[:, 63].tolist() == [6.0, 1.0]
    assert after.aux["companion"][:, 63].tolist() == [7.0, 2.0]
    assert after.aux["count"].tolist() == [8, 3]
    assert after.aux["turn"].item() == 1
