"""Probabilities of a letter after the letters before it, counted from a text."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import torch
from torch import Tensor

from targets.datasets.files.user_paths import user_path

LETTERS = " abcdefghijklmnopqrstuvwxyz"
"""The alphabet: a space, which stands for all between two words, and the small letters."""


def letters_of(text: str) -> Tensor:
    """Places in `LETTERS` of the letters of a text, ``(length,)``, int64; other characters part words."""
    plain = re.sub("[^a-z]+", " ", text.lower()).strip()
    return torch.tensor([LETTERS.index(letter) for letter in plain], dtype=torch.int64)


def read_text(path: str | None) -> str:
    """The text of a file, or, for None, of this project's licence, the Apache License 2.0.

    Raises:
        ValueError: if the file cannot be read as text.
    """
    if path is None:
        beside = Path(__file__).parents[2] / "LICENSE"
        if beside.is_file():
            return beside.read_text(encoding="utf-8")
        return importlib.metadata.distribution("rungwise").read_text("licenses/LICENSE") or ""
    try:
        text = user_path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"text must be a file that can be read as UTF-8, {path!r} was given") from error
    if "\0" in text:  # UTF-16 reads as UTF-8, with such a character beside each letter
        raise ValueError(f"text must be a file in UTF-8, {path!r} has characters of value 0")
    return text


def letter_log_probs(places: Tensor, order: int, smoothing: float) -> Tensor:
    """log p(letter | the order - 1 letters before it), ``(27, .., 27)``, float64; the letter comes last.

    (count + smoothing) / (count of the letters before + 27 smoothing).
    """
    size = len(LETTERS)
    windows = places.unfold(0, order, 1)
    index = windows @ size ** torch.arange(order - 1, -1, -1)
    counts = index.bincount(minlength=size**order).double().reshape((size,) * order) + smoothing
    return (counts / counts.sum(-1, keepdim=True)).log()
