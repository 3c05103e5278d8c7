"""Small pictures of the pages show what the pictures do."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from runner.site.content.pictures import thumbnail

ROOT = Path(__file__).parents[3]


def test_a_thumbnail_keeps_the_colours_of_samplers() -> None:
    """Thin marks among many greys had none."""
    path = ROOT / "outputs/record/field_ess_paper/figure.png"
    small = thumbnail(path)
    assert small is not None

    def coloured(picture: Image.Image) -> int:
        pixels = np.asarray(picture.convert("RGB"), int)
        return int((np.ptp(pixels, axis=2) > 60).sum())

    with Image.open(path) as figure, Image.open(io.BytesIO(small.content)) as shown:
        expected = coloured(figure.convert("RGB").resize(shown.size))
        assert coloured(shown) > 0.9 * expected > 100
