"""The tensors of a recorded step in a block of memory for each dtype, so that few operations copy them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

ALIGNMENT = 64
"""Numbers at whose multiples tensors begin: compiled code reads several of them at once."""


class KeptTensors:
    """Places for tensors of the form of `like`, those of a dtype one after the other in one block.

    Blocks of bytes for all dtypes would be fewer, but ``torch.save`` refuses tensors that share them.

    Attributes:
        places: the tensors, contiguous.
    """

    def __init__(self, like: Sequence[Tensor]) -> None:
        self._forms: list[tuple[torch.dtype, tuple[int, ...], tuple[int, ...], int]] = []
        ends: dict[torch.dtype, int] = {}
        for each in like:
            begin = ends.get(each.dtype, 0)
            strides = torch.empty(each.shape, device="meta").stride()
            self._forms.append((each.dtype, tuple(each.shape), strides, begin))
            ends[each.dtype] = begin - (-each.numel() // ALIGNMENT) * ALIGNMENT
        self._blocks = {
            dtype: torch.empty(end, dtype=dtype, device=like[0].device) for dtype, end in ends.items()
        }
        self.places = self._laid_on(self._blocks)

    def fill(self, values: Sequence[Tensor]) -> None:
        """Copies `values` to their places, if they are not there; one may lie in a block, elsewhere."""
        blocks = {block.untyped_storage().data_ptr() for block in self._blocks.values()}
        pairs = [pair for pair in zip(self.places, values, strict=True) if pair[0] is not pair[1]]
        apart = [each.clone() if each.untyped_storage().data_ptr() in blocks else each for _, each in pairs]
        copy_all([place for place, _ in pairs], apart)

    def copies(self) -> Iterator[Tensor]:
        """What stands at the places, in tensors that no later call changes."""
        return iter(self._laid_on({dtype: block.clone() for dtype, block in self._blocks.items()}))

    def _laid_on(self, blocks: dict[torch.dtype, Tensor]) -> list[Tensor]:
        return [
            blocks[dtype].as_strided(shape, strides, begin) for dtype, shape, strides, begin in self._forms
        ]


def copy_all(places: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Copies each value to its place, those of one dtype in one operation."""
    for dtype in dict.fromkeys(each.dtype for each in values):
        pairs = [pair for pair in zip(places, values, strict=True) if pair[1].dtype == dtype]
        torch._foreach_copy_([place for place, _ in pairs], [value for _, value in pairs])
