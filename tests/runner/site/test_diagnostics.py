"""Ranks and autocorrelations of chains against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

from runner.site.content.diagnostics import BINS, autocorrelations, diagnostics_chart, rank_shares
from runner.store.arrays.series_file import StoredSeries


@pytest.fixture
def u() -> np.ndarray:
    """200 points of 4 chains, rounded so that some are equal; the last chain is elsewhere."""
    found: np.ndarray = np.random.default_rng(0).normal(size=(200, 4)).round(1)
    found[:, 3] += 4.0
    return found


def test_rank_shares_count_the_ranks_of_all_chains(u: np.ndarray) -> None:
    ranks = (rankdata(u.ravel()).reshape(u.shape) - 0.5) / u.size
    wanted = [np.histogram(ranks[:, chain], BINS, (0.0, 1.0))[0] * BINS / len(u) for chain in range(4)]
    assert rank_shares(u) == pytest.approx(np.stack(wanted, axis=1))
    assert rank_shares(u).mean(axis=0) == pytest.approx(1.0)
    assert rank_shares(u)[-1, 3] > 3.0


def test_autocorrelations_are_sums_of_products(u: np.ndarray) -> None:
    found = autocorrelations(u)
    centred = u - u.mean(axis=0)
    for lag in range(len(found)):
        products = (centred[: len(u) - lag] * centred[lag:]).sum(axis=0)
        assert found[lag] == pytest.approx(products / (centred**2).sum(axis=0))


def _firsts(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """The first line of each plot."""
    return [plot["traces"][0] for plot in chart["plots"]]


def test_chains_are_drawn_as_far_as_they_were_stored(u: np.ndarray) -> None:
    steps = np.arange(200) * 5
    chart = diagnostics_chart(StoredSeries(steps, u.astype(np.float32)))
    assert chart is not None
    assert [plot["name"] for plot in chart["plots"]] == [
        "log density along the chains",
        "ranks",
        "autocorrelation",
    ]
    assert [len(plot["traces"]) for plot in chart["plots"]] == [4, 4, 4]
    path, ranks, correlation = ((each["x0"], each["dx"], each["y"]) for each in _firsts(chart))
    assert path == (0.0, 10.0, pytest.approx(u[::2, 0], rel=1e-4))
    assert ranks == (0.5 / BINS, 1 / BINS, pytest.approx(rank_shares(u)[:, 0], rel=1e-4))
    assert correlation == (0.0, 5.0, pytest.approx(autocorrelations(u)[:, 0], rel=1e-4))
    few = diagnostics_chart(StoredSeries(steps[:8], u[:8].astype(np.float32)))
    assert few is not None
    assert len(few["plots"]) == 1
    stuck = diagnostics_chart(StoredSeries(steps, np.zeros((200, 2), np.float32)))
    assert stuck is not None
    assert len(stuck["plots"]) == 1
    assert diagnostics_chart(None) is None
    assert diagnostics_chart(StoredSeries(steps, np.full((200, 2), np.inf, np.float32))) is None
