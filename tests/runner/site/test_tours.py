"""The tour on a run's page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from runner.site.content.tours import placed, visited_tour
from runner.store.arrays.array_files import VISITS
from targets.tours.released_tsp import ReleasedTSP
from targets.tours.tsp import TSP

CONFIG = {"target": {"name": "tsp", "_target_": "targets.tours.tsp.TSP", "cities": 5}, "data": {"root": None}}


def kept(folder: Path, counts: np.ndarray) -> Path:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, visits=counts)
    (folder / VISITS).write_bytes(buffer.getvalue())
    return folder


def test_points_of_the_plane_keep_their_distances() -> None:
    points = np.random.default_rng(0).random((7, 2))
    between = np.linalg.norm(points[:, None] - points, axis=-1)
    again = placed(between)
    assert np.linalg.norm(again[:, None] - again, axis=-1) == pytest.approx(between)


def test_the_most_visited_order_is_drawn_with_its_share_and_length(tmp_path: Path) -> None:
    counts = np.zeros(120, dtype=np.int64)
    counts[[3, 50]] = 1, 3
    picture = visited_tour(kept(tmp_path, counts), CONFIG)
    assert picture is not None
    target = TSP(5)
    assert f"75.0% of the draws, length {float(target.cost(target.tours()[50])):.3g}." in picture.title
    image = Image.open(io.BytesIO(base64.b64decode(picture.source.split(",", 1)[1])))
    assert image.size == (picture.width, picture.height)
    assert np.asarray(image).min() == 0


def test_the_released_cities_are_drawn_too(tmp_path: Path) -> None:
    counts = np.zeros(40_320, dtype=np.int64)
    counts[7] = 1
    config = {"target": {"name": "released_tsp", "_target_": "targets.tours.released_tsp.ReleasedTSP"}}
    picture = visited_tour(kept(tmp_path, counts), config)
    target = ReleasedTSP()
    assert picture is not None
    assert f"100.0% of the draws, length {float(target.cost(target.tours()[7])):.3g}." in picture.title


def test_other_runs_have_none(tmp_path: Path) -> None:
    assert visited_tour(tmp_path, CONFIG) is None
    folder = kept(tmp_path, np.ones(120, dtype=np.int64))
    assert visited_tour(folder, {"target": {"_target_": "targets.synthetic.bernoulli4.Bernoulli4"}}) is None
    assert visited_tour(folder, None) is None
    assert visited_tour(kept(tmp_path, np.ones(24, dtype=np.int64)), CONFIG) is None
    many = {"target": {**CONFIG["target"], "cities": 12}, "data": {"root": None}}
    assert visited_tour(kept(tmp_path, np.ones(120, dtype=np.int64)), many) is None
