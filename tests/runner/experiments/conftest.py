"""Small instances of the names that the experiments on tours ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data root with instances of five cities."""
    root = tmp_path_factory.mktemp("data")
    (root / "tsplib").mkdir()
    points = "\n".join(f"{city} {city * city % 7} {city}" for city in range(1, 6))
    for name in ("burma14", "gr17"):
        text = f"NAME: {name}\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{points}\nEOF\n"
        (root / "tsplib" / f"{name}.tsp").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATA_ROOT", str(root))
        yield root
