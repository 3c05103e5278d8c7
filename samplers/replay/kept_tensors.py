"""The tensors of a recorded step in one block of memory, so that one operation copies all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

ALIGNMENT = 64
"""Bytes at whose multiples tensors begin: compiled code reads several numbers at once."""


class KeptTensors:
    """Places for tensors of the form of `like`, one after the other in a block of bytes.

    Attributes:
        places: the tensors, contiguous.
    """

    def __init__(self, like: Sequence[Tensor]) -> None:
        self._dtypes = list(dict.fromkeys(each.dtype for each in like))
        self._forms: list[tuple[int, tuple[int, ...], tuple[int, ...], int]] = []
        end = 0
        for each in like:
            begin, which = _aligned(end), self._dtypes.index(each.dtype)
            strides = torch.empty(each.shape, device="meta").stride()
            self._forms.append((which, tuple(each.shape), strides, begin // each.element_size()))
            end = begin + each.numel() * each.element_size()
        self._block = torch.empty(_aligned(end), dtype=torch.uint8, device=like[0].device)
        self.places = self._laid_on(self._block)

    def fill(self, values: Sequence[Tensor]) -> None:
        """Copies `values` to their places; a value may lie in the block itself, at another place."""
        block = self._block.untyped_storage().data_ptr()
        apart = [each.clone() if each.untyped_storage().data_ptr() == block else each for each in values]
        copy_all(self.places, apart)

    def copies(self) -> Iterator[Tensor]:
        """What stands at the places, in tensors that no later call changes."""
        return iter(self._laid_on(self._block.clone()))

    def _laid_on(self, block: Tensor) -> list[Tensor]:
        by_dtype = [block.view(dtype) for dtype in self._dtypes]
        return [
            by_dtype[which].as_strided(shape, strides, begin) for which, shape, strides, begin in self._forms
        ]


def copy_all(places: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Copies each value to its place, those of one dtype in one operation."""
    for dtype in dict.fromkeys(each.dtype for each in values):
        pairs = [pair for pair in zip(places, values, strict=True) if pair[1].dtype == dtype]
        torch._foreach_copy_([place for place, _ in pairs], [value for _, value in pairs])


def _aligned(end: int) -> int:
    return -(-end // ALIGNMENT) * ALIGNMENT
