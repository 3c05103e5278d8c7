"""The thinned series keeps what its rule says, in bounded memory, however it is fed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.metric import Context
from metrics.statistics.thinned_series import LogProbSeries, ModeSeries, ThinnedSeries
from samplers import Gibbs
from tests.support.measuring import context, random_draws, silent
from tests.support.targets.modes import corners


class StepSeries(ThinnedSeries):
    """Records the step, which the test puts into theta."""

    def __init__(self, run: Context, capacity: int) -> None:
        super().__init__(run, (run.seeds, run.chains), torch.float64, capacity)

    def value(self, step: int, theta: Tensor) -> Tensor:
        return theta.squeeze(-1)


def fed(steps: range, capacity: int = 8) -> StepSeries:
    series = StepSeries(context(corners(), 2, 3), capacity)
    for step in steps:
        series.update(step, torch.full((2, 3, 1), float(step)), silent(2, 3))
    return series


@pytest.mark.parametrize("last", [1, 7, 8, 9, 16, 17, 18, 100, 1000])
@pytest.mark.parametrize("first", [1, 401])
@pytest.mark.parametrize("capacity", [1, 7, 8])
def test_kept_are_the_multiples_of_the_smallest_stride_that_fits(
    first: int, last: int, capacity: int
) -> None:
    steps = range(first, first + last)
    series = fed(steps, capacity)
    stride = 1
    while len([step for step in steps if step % stride == 0]) > capacity:
        stride *= 2
    assert series.steps == [step for step in steps if step % stride == 0]
    assert series.stride == stride
    assert torch.equal(series.rows, torch.tensor(series.steps).double().reshape(-1, 1, 1).expand(-1, 2, 3))


@pytest.mark.parametrize(
    ("cut", "length"), [(1, 12), (5, 12), (9, 12), (1, 100), (8, 100), (9, 100), (40, 100), (99, 100)]
)
def test_merge_equals_one_pass(cut: int, length: int) -> None:
    whole, first, second = fed(range(1, length)), fed(range(1, cut)), fed(range(cut, length))
    first.merge(second)
    assert (first.steps, first.stride) == (whole.steps, whole.stride)
    assert torch.equal(first.rows, whole.rows)


@pytest.mark.parametrize(("chains", "rows"), [(1, 2048), (64, 2048), (100, 1310), (1000, 130), (5000, 128)])
def test_memory_is_bounded(chains: int, rows: int) -> None:
    assert LogProbSeries(context(corners(), 1, chains)).capacity == rows


@pytest.mark.parametrize("asked", [1, 7, 5000])
def test_as_many_rows_as_are_asked_for(asked: int) -> None:
    run = Context(corners(), Gibbs(), 1, 1000, torch.device("cpu"), series_steps=asked)
    assert LogProbSeries(run).capacity == asked
    with pytest.raises(ValueError, match="series_steps must be 0 or more, -1 was given"):
        Context(corners(), Gibbs(), 1, 1000, torch.device("cpu"), series_steps=-1)


def test_energies_and_modes_are_those_of_the_kept_draws() -> None:
    target = corners()
    run = context(target, 2, 3)
    energies, modes = run.statistic(LogProbSeries), run.statistic(ModeSeries)
    draws = random_draws(target, 3000, 2, 3)
    for step, theta in enumerate(draws, start=1):
        energies.update(step, theta, silent(2, 3))
        modes.update(step, theta, silent(2, 3))
    assert energies.steps == list(range(2, 3001, 2))
    kept = draws[1::2]
    assert torch.equal(energies.rows, target.log_prob(kept))
    assert torch.equal(modes.rows.long(), target.responsibilities(kept).argmax(-1))


def test_the_energy_is_evaluated_at_kept_steps_only() -> None:
    target = corners()
    calls = []
    original = target.log_prob
    target.log_prob = lambda theta: calls.append(1) or original(theta)  # type: ignore[method-assign]
    series = LogProbSeries(context(target, 1, 100_000))
    draws = random_draws(target, 1, 1, 100_000)[0]
    for step in range(1, 1025):
        series.update(step, draws, silent(1, 1))
    assert series.stride == 8
    assert len(calls) == 128 + 64 * 3


def test_successive_values_correlate_as_those_of_all_steps_before_the_first_thinning() -> None:
    """Of labels that is the correlation of the indicators of the modes, summed."""
    target = corners()
    run = context(target, 2, 3)
    energies, modes = run.statistic(LogProbSeries), run.statistic(ModeSeries)
    draws = random_draws(target, 2049, 2, 3)
    draws[1::2] = draws.amin() + draws.amax() - draws[::2][:1024]
    for step, theta in enumerate(draws, start=1):
        assert not (energies.to_and_fro | modes.to_and_fro).any()
        for series in (energies, modes):
            series.update(step, theta, silent(2, 3))
    labels = target.responsibilities(draws[:2048]).argmax(-1)
    for seed in range(2):
        for series, values in (
            (energies, target.log_prob(draws[:2048])[:, seed, :, None]),
            (modes, torch.nn.functional.one_hot(labels[:, seed])),
        ):
            centred = values.double() - values.double().mean((0, 1))
            products = (centred[1:] * centred[:-1]).mean((0, 1)).sum()
            expected = products / centred.square().mean((0, 1)).sum()
            assert float(series.successive[seed]) == pytest.approx(float(expected), abs=1e-3)
    assert modes.to_and_fro.all()
