"""Grey values of any dtype as bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.files.data_error import DataError

WHITE = 255
CLOSE = 1e-3
"""Tolerance with which a value times `WHITE` counts as an integer, that is, the value as byte / 255."""
ROUNDED = "grey values rounded to 255ths"
"""The note for a data set whose values are not multiples of 1/255."""
LEAST_WHITE = 128
"""What the largest of whole numbers is at least; those from 0 to 16 or to 100 are of another scale."""


def as_bytes(
    arrays: Mapping[str, NDArray[Any]], source: str, threshold: float | None = None
) -> tuple[dict[str, NDArray[np.uint8]], str | None]:
    """Numbers between 0 and 1, or integers from 0 to 255, as bytes from 0 (black) to 255 (white).

    If all values of all arrays are at most 1 they are fractions of white, whatever their dtype, so that zeros
    and ones become black and white. An array that is black alone is so by either scale.

    Args:
        arrays: numbers of any shape, by part.
        source: the file, for messages.
        threshold: from 0 to 1; fractions are not rounded across it: bytes are above it where fractions are.

    Returns:
        The bytes by part, and a note: `ROUNDED` if some fractions are not multiples of 1/255, or that the
        largest integer is below 255, else None.

    Raises:
        DataError: if a value is anything else, one array holds zeros and ones where another has bytes, or the
            largest integer of all arrays is below `LEAST_WHITE`.
    """
    if all(((values >= 0) & (values <= 1)).all() for values in arrays.values()):
        rounded, found = False, {}
        for name, values in arrays.items():
            scaled = values.astype(np.float32) * np.float32(WHITE)
            whole = np.rint(scaled)
            other = np.abs(scaled - whole) > CLOSE
            rounded |= bool(other.any())
            if threshold is not None:
                cut, above = math.floor(threshold * WHITE), values > values.dtype.type(threshold)
                whole = np.where(other & above, np.maximum(whole, cut + 1), whole)
                whole = np.where(other & ~above, np.minimum(whole, cut), whole)
            found[name] = whole.astype(np.uint8)
        return found, ROUNDED if rounded else None
    for name, values in arrays.items():
        if not ((values >= 0) & (values <= WHITE) & (values == np.floor(values))).all():
            raise DataError(
                f"'{source}' must hold values between 0 and 1 or whole ones from 0 to {WHITE}, {name} holds "
                "others"
            )
    largest = {name: int(values.max(initial=0)) for name, values in arrays.items()}
    for name, most in largest.items():
        if most == 1:
            other = max(largest, key=largest.__getitem__)
            raise DataError(
                f"'{source}' must hold all its images on one scale, from 0 to 1 or from 0 to {WHITE}; {name} "
                f"has values up to 1, {other} up to {largest[other]}"
            )
    most = max(largest.values())
    if most < LEAST_WHITE:
        raise DataError(
            f"'{source}' must hold whole numbers on the scale from 0 to {WHITE}, its largest is {most}: "
            f"divide all by {most}, if that is white"
        )
    note = None if most == WHITE else f"grey values of 0 to {WHITE}, the largest is {most}"
    return {name: values.astype(np.uint8) for name, values in arrays.items()}, note
