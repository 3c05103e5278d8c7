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
        grey: of a dynamic set, the grey values of the training images, uint8 ``(images, pixels)`` from 0 to
            `white`: who trains draws every batch anew as Bernoulli(grey / white), and `train` is one draw of
            them for whoever needs zeros and ones. None for a set that stays as it is.
        white: the grey value that is always 1.
        note: what must be said beside a number measured on it: that it is a subset, a split of our own, ...
            None for the whole published set in its published split.
    """

    name: str
    train: Tensor
    validation: Tensor
    test: Tensor
    shape: tuple[int, int]
    note: str | None = None
    grey: Tensor | None = None
    white: int = 255

    def mean(self) -> Tensor:
        """Mean of the training images, ``(pixels,)``, float64; of a dynamic set the mean of all its draws."""
        if self.grey is not None:
            return self.grey.sum(0).double() / (len(self.grey) * self.white)
        return self.train.sum(0).double() / len(self.train)

    def fingerprint(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 of all pixels in order, grey values last."""
        return self._fingerprint

    @functools.cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in (self.train, self.validation, self.test):
            digest.update(str(tuple(part.shape)).encode())
            digest.update(part.to(torch.uint8).contiguous().numpy().tobytes())
        if self.grey is not None:
            digest.update(f"grey {self.white} {tuple(self.grey.shape)}".encode())
            digest.update(self.grey.contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]
