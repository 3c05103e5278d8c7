"""Files that cases read, written anew for each: the same bytes everywhere, and no data set among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

WRITERS: dict[str, Callable[[Path], None]] = {}


def write(name: str, folder: Path) -> None:
    """Writes the file `name` into `folder`."""
    WRITERS[name](folder / name)


def _writes(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def kept(writer: Callable[[Path], None]) -> Callable[[Path], None]:
        WRITERS[name] = writer
        return writer

    return kept


def _strokes(images: int, seed: int) -> np.ndarray:
    """Images of 3 x 4 pixels: a filled left or lower half, with a tenth of the pixels flipped."""
    rng = np.random.default_rng(seed)
    left = np.broadcast_to(np.arange(4) < 2, (3, 4))
    lower = np.broadcast_to((np.arange(3) > 0)[:, None], (3, 4))
    shape = np.where(rng.random((images, 1, 1)) < 0.5, left, lower)
    return (shape ^ (rng.random((images, 3, 4)) < 0.1)).astype(np.uint8)


@_writes("strokes.npz")
def _binary(path: Path) -> None:
    np.savez(path, train=_strokes(120, 0), validation=_strokes(30, 1), test=_strokes(40, 2))


@_writes("grey.npz")
def _grey(path: Path) -> None:
    rng = np.random.default_rng(3)
    parts = {"train": _strokes(120, 0), "validation": _strokes(30, 1), "test": _strokes(40, 2)}
    np.savez(path, **{name: (0.1 + 0.8 * bits) * rng.random(bits.shape) for name, bits in parts.items()})


@_writes("seven.tsp")
def _tour(path: Path) -> None:
    points = "\n".join(f"{city} {city * city % 7} {3 * city % 5 + city}" for city in range(1, 8))
    path.write_text(
        f"NAME: seven\nTYPE: TSP\nDIMENSION: 7\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{points}\nEOF\n"
    )


@_writes("matrix.tsp")
def _matrix(path: Path) -> None:
    rows = "\n".join(
        " ".join(str((3 * a + 5 * b) % 11 + 2) if a > b else "0" for b in range(a + 1)) for a in range(6)
    )
    path.write_text(
        "NAME: matrix\nTYPE: TSP\nDIMENSION: 6\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n{rows}\nEOF\n"
    )
