"""The visits that a run keeps are the counts of its draws, and the series is U of its first chains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from metrics import ESS, TV, Context, MetricSuite
from runner.store.arrays.array_files import LARGEST_SPACE, VISITS, load_visits, visits_file
from runner.store.arrays.series_file import CHAINS, POINTS, SERIES, load_series, series_file
from samplers import Info, RandomWalk
from targets.synthetic.bernoulli4 import Bernoulli4


def suite_of(draws: torch.Tensor) -> MetricSuite:
    """A suite that has seen `draws`, ``(steps, seeds, chains, d)``."""
    _, seeds, chains, _ = draws.shape
    context = Context(Bernoulli4(), RandomWalk(), seeds=seeds, chains=chains, device=torch.device("cpu"))
    suite = MetricSuite(context, {"tv": TV, "ess": ESS})
    nothing = torch.zeros(seeds, chains)
    for step, theta in enumerate(draws, start=1):
        suite.update(step, theta, Info(acceptance=nothing, jump=nothing, evaluations=1))
    return suite


def test_each_run_keeps_its_own_counts(tmp_path: Path) -> None:
    draws = torch.randint(0, 2, (5, 2, 3, 4), generator=torch.Generator().manual_seed(0)).float()
    suite = suite_of(draws)
    for place in range(2):
        content = visits_file(suite, place)
        assert content is not None
        assert content == visits_file(suite, place)
        (tmp_path / VISITS).write_bytes(content)
        cells = (draws[:, place].reshape(-1, 4) @ torch.tensor([8.0, 4.0, 2.0, 1.0])).long()
        found = load_visits(tmp_path)
        assert found is not None
        np.testing.assert_array_equal(found, np.bincount(cells.numpy(), minlength=16))


def test_nothing_is_kept_where_nothing_counts(tmp_path: Path) -> None:
    context = Context(Bernoulli4(), RandomWalk(), seeds=1, chains=1, device=torch.device("cpu"))
    assert visits_file(MetricSuite(context, {}), 0) is None
    assert load_visits(tmp_path) is None
    whole = visits_file(suite_of(torch.zeros(1, 1, 1, 4)), 0)
    assert whole is not None
    for content in (b"no archive", b"", whole[: len(whole) // 2]):
        (tmp_path / VISITS).write_bytes(content)
        assert load_visits(tmp_path) is None
    assert LARGEST_SPACE >= 101**2


def test_each_run_keeps_the_series_of_its_first_chains(tmp_path: Path) -> None:
    draws = torch.randint(0, 2, (600, 2, 9, 4), generator=torch.Generator().manual_seed(0)).float()
    suite = suite_of(draws)
    for place in range(2):
        content = series_file(suite, place)
        assert content is not None
        (tmp_path / SERIES).write_bytes(content)
        found = load_series(tmp_path)
        assert found is not None
        assert len(found.steps) <= POINTS
        assert set(np.diff(found.steps)) == {3}
        u = Bernoulli4().log_prob(draws[found.steps - 1, place, :CHAINS])
        np.testing.assert_array_equal(found.log_prob, u.float().numpy())
    (tmp_path / SERIES).write_bytes(content[:99])
    assert load_series(tmp_path) is None
