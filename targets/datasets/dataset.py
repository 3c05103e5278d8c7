"""A data set of binary images in three parts, with the remarks that its results need."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from targets.datasets.files.data_error import DataError as DataError


@dataclass(frozen=True, eq=False)
class Dataset:
    """Binary images, flattened row by row.

    Attributes:
        name: such as ``mnist``.
        train, validation, test: zeros and ones, uint8, ``(images, pixels)``; zero images for a part that the
            set does not have.
        shape: height and width of an image.
        grey: with dynamic binarisation, the grey values of the training images, uint8 ``(images, pixels)``
            from 0 to `white`: a training draws every batch as Bernoulli(grey / white), and `train` is a
            single draw. None for static images.
        grey_test: grey values of the test images, uint8 ``(images, pixels)`` from 0 to `white`; None for a
            set that is black and white.
        white: the maximum grey value, which is always drawn as 1.
        note: remark that must accompany results: that it is a subset, a split of our own, ... None for the
            whole published set in its published split.
    """

    name: str
    train: Tensor
    validation: Tensor
    test: Tensor
    shape: tuple[int, int]
    note: str | None = None
    grey: Tensor | None = None
    grey_test: Tensor | None = None
    white: int = 255

    def mean(self) -> Tensor:
        """Mean of the training images, ``(pixels,)``, float64; expected mean if binarisation is dynamic."""
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
