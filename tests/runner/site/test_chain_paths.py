"""The charts of stored chains show what the chains did."""

from __future__ import annotations

import numpy as np
import pytest

from runner.site.content.chain_paths import BINS, paths_chart
from runner.store.series_file import StoredSeries


def series(log_prob: np.ndarray) -> StoredSeries:
    return StoredSeries(np.arange(1, 4 * len(log_prob), 4), log_prob.astype(np.float32))


def values(plot: dict[str, object]) -> np.ndarray:
    return np.array([trace["y"] for trace in plot["traces"]], float)  # type: ignore[index, attr-defined]


def test_ranks_autocorrelation_and_path_are_those_of_the_chains() -> None:
    u = np.random.default_rng(0).normal(size=(200, 3))
    chart = paths_chart(series(u))
    assert chart is not None
    ranks, lagged, path = chart["plots"]
    order = u.T.ravel().argsort().argsort().reshape(3, 200)
    expected = [np.histogram(of_chain + 1, np.linspace(0, 601, BINS + 1))[0] for of_chain in order]
    assert np.abs(values(ranks) - expected).sum() <= 6  # a rank on an edge may fall on either side of it
    assert values(ranks).sum(1).tolist() == [200, 200, 200]
    centred = u - u.mean(0)
    brute = [(centred[7:] * centred[: 200 - 7]).mean(0) * (193 / 200) / u.var(0)]
    np.testing.assert_allclose(values(lagged)[:, 7], brute[0], atol=1e-4)
    assert lagged["traces"][0]["x"][:3] == [0, 4, 8]
    np.testing.assert_allclose(values(path)[1], u[::2, 1], rtol=1e-4)


def test_a_stuck_chain_has_its_own_ranks_and_no_autocorrelation() -> None:
    u = np.random.default_rng(0).normal(size=(100, 2))
    u[:, 1] = 9.0
    chart = paths_chart(series(u))
    assert chart is not None
    ranks, lagged, _ = chart["plots"]
    assert values(ranks)[1].max() == 100
    assert values(ranks)[0, values(ranks)[1].argmax()] == 0
    assert set(lagged["traces"][1]["y"]) == {None}


def test_chains_with_equal_values_have_equal_ranks() -> None:
    """Log densities of discrete targets have many ties."""
    u = np.tile(np.random.default_rng(0).integers(0, 3, size=(60, 1)).astype(float), (1, 4))
    chart = paths_chart(series(u))
    assert chart is not None
    assert len({tuple(trace["y"]) for trace in chart["plots"][0]["traces"]}) == 1


@pytest.mark.parametrize("u", [np.zeros((7, 2)), np.full((20, 2), np.inf)])
def test_nothing_is_drawn_of_too_little_or_of_infinity(u: np.ndarray) -> None:
    assert paths_chart(series(u)) is None
