"""What a data set is: binary images in three parts, and what must be said of them."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor


class DataError(ValueError):
    """A data set that is missing, damaged or of the wrong form; the message is one sentence for the user."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Binary images, flattened row by row.

    Attributes:
        name: such as ``mnist``.
        train, validation, test: zeros and ones, uint8, ``(images, pixels)``; a part that the set does not
            have holds no images.
        shape: height and width of an image.
        note: what must be said beside a number measured on it: that it is a subset, a split of our own, ...
            None for the whole published set in its published split.
    """

    name: str
    train: Tensor
    validation: Tensor
    test: Tensor
    shape: tuple[int, int]
    note: str | None = None

    def mean(self) -> Tensor:
        """Mean of the training images, ``(pixels,)``, float64."""
        return self.train.sum(0).double() / len(self.train)

    def fingerprint(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 of all pixels in order."""
        return self._fingerprint

    @functools.cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in (self.train, self.validation, self.test):
            digest.update(str(tuple(part.shape)).encode())
            digest.update(part.to(torch.uint8).contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]
