"""Tries a metric on a few draws, before chains run with it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from metrics.metric import Metric, Statistic
from metrics.reserved_names import reserved
from metrics.suite import MetricSuite
from samplers.kernel import Info, SwapInfo
from targets.checks import is_number
from targets.trial.failures import failure, is_refusal
from targets.trial.global_generators import without_global_numbers

DIRECTIONS = (None, "min", "max")

FEWEST = 2

ROUNDING = 1e-4
"""How far the values of a seed may differ alone and beside others, as a share of their size."""


def check_attributes(name: str, metric: Metric) -> None:
    """Raises ValueError, in one sentence, unless the class of `metric` says what tables and figures read."""
    cls: Any = type(metric)
    if cls.direction not in DIRECTIONS:
        raise ValueError(
            f"the metric {name} must have 'min', 'max' or None as its direction, {cls.direction!r} was given"
        )
    bounds = cls.bounds
    numbers = isinstance(bounds, tuple) and len(bounds) == 2 and all(map(is_number, bounds))
    if not numbers or not bounds[0] < bounds[1]:
        raise ValueError(
            f"the metric {name} must have a pair of its least and its largest value as its bounds, "
            f"{bounds!r} was given"
        )


@torch.no_grad()
def try_metric(
    name: str,
    make: Callable[[], MetricSuite],
    draws: Sequence[tuple[Tensor, Info]],
    make_alone: Callable[[], MetricSuite] | None = None,
) -> None:
    """Refuses a metric that fails, does not give what `Metric` says, or cannot go on from a checkpoint.

    Three suites measure the `draws`. The second one begins at the last of them, with what the first had
    saved; the third one is not asked for its values before the end.

    Args:
        name: the metric, the only one in the suites that `make` builds.
        draws: those of consecutive steps, at least 2.
        make_alone: as `make`, for the first seed alone; its values must be those that it has beside others.

    Raises:
        ValueError: naming the metric, what it gave and what was expected, in one sentence.
    """
    if len(draws) < FEWEST:
        raise ValueError(f"a metric is tried on at least {FEWEST} steps, {len(draws)} were given")
    whole, resumed, unasked = make(), make(), make()
    with without_global_numbers(
        f"The metric {name}", "its random numbers must come from Context.generator or Context.streams"
    ):
        for step, (theta, info) in enumerate(draws[:-1], start=1):
            _update(name, whole, step, theta, info)
        _result(name, whole)
        try:
            resumed.load_state_dict(_read_back(whole.state_dict()))
        except Exception as error:
            raise ValueError(f"the metric {name} cannot be saved and read back: {failure(error)}") from error
        _compare_read_back(name, whole.parts(), resumed.parts())
        for suite in (whole, resumed):
            _update(name, suite, len(draws), *draws[-1])
        for step, (theta, info) in enumerate(draws, start=1):
            _update(name, unasked, step, theta, info)
        values = _result(name, whole)
        if found := _differing(values, _result(name, unasked)):
            key, asked, got = found
            raise ValueError(
                f"the metric {name} must not change in result what it accumulates: after one more call of it "
                f"{key} is {asked} in place of {got}"
            )
        if found := _differing(values, _result(name, resumed)):
            key, whole_run, got = found
            raise ValueError(
                f"the metric {name} must go on from a checkpoint: saved and read back it gives {got} as {key}"
                f" in place of {whole_run}; its attribute saved must name all that it accumulates"
            )
        if make_alone is None:
            return
        alone = make_alone()
        for step, (theta, info) in enumerate(draws, start=1):
            _update(name, alone, step, theta[:1], of_first_seed(info))
        _compare_alone(name, values, _result(name, alone))


def _compare_read_back(name: str, parts: Mapping[str, Statistic], read: Mapping[str, Statistic]) -> None:
    """Whether every number and tensor of the metric, and of its statistics, was read back.

    Few draws do not always show it: what is compared with the next draw changes a value now and then.
    """
    for key, part in parts.items():
        for attribute, value in vars(part).items():
            other = getattr(read[key], attribute, None)
            if _alike(value, other):
                continue
            owner = "its" if key == name else f"{type(part).__name__}'s"
            raise ValueError(
                f"the metric {name} must go on from a checkpoint: saved and read back it has another "
                f"{attribute}; {owner} attribute saved must name all that update changes"
            )


def _alike(value: object, other: object) -> bool:
    """Whether both are the same, or are not a number each or a tensor each of one shape."""
    if isinstance(value, Tensor) and isinstance(other, Tensor) and value.shape == other.shape:
        return torch.equal(value.nan_to_num(nan=0.1), other.nan_to_num(nan=0.1))
    return not (is_number(value) and is_number(other)) or value == other or value != value


def _update(name: str, suite: MetricSuite, step: int, theta: Tensor, info: Info) -> None:
    given = theta.clone()
    try:
        suite.update(step, given, info)
    except Exception as error:
        raise ValueError(f"the metric {name} fails in update with {failure(error)}") from error
    if not torch.equal(given, theta):
        raise ValueError(f"the metric {name} must not change the draws that it is given in update")


def _result(name: str, suite: MetricSuite) -> dict[str, Tensor]:
    try:
        values = suite.result()
    except Exception as error:
        if is_refusal(error):
            raise
        raise ValueError(f"the metric {name} fails in result with {failure(error)}") from error
    if (taken := reserved(values)) is not None:
        raise ValueError(
            f"the metric {name} must give another name to its value {taken}, which is the run's own"
        )
    return values


def _read_back(saved: dict[str, Any]) -> Any:
    """`saved` as it comes from a checkpoint."""
    file = io.BytesIO()
    torch.save(saved, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def _differing(values: dict[str, Tensor], others: dict[str, Tensor]) -> tuple[str, str, str] | None:
    """The first of `values` that is another one in `others`, by name: it, and what each of both has."""
    for key, value in values.items():
        other = others.get(key)
        if other is None or not torch.equal(value.nan_to_num(nan=0.1), other.nan_to_num(nan=0.1)):
            return key, f"{value.tolist()}", "nothing" if other is None else f"{other.tolist()}"
    return None


def of_first_seed(info: Info) -> Info:
    """What a step did in the chains of the first seed, whose batch axes are (seeds, chains)."""

    def of(values: Tensor | None, axis: int = 0) -> Tensor | None:
        return None if values is None else values.narrow(axis, 0, 1)

    swap = info.swap and SwapInfo(*(getattr(info.swap, each.name)[:, :1] for each in fields(SwapInfo)))
    return replace(
        info,
        acceptance=info.acceptance[:1],
        jump=info.jump[:1],
        swap=swap,
        level=of(info.level),
        aux={key: value[:1] for key, value in info.aux.items()},
        rungs=of(info.rungs, 1),
        hot_jump=of(info.hot_jump),
        slopes=of(info.slopes, 1),
    )


def _compare_alone(name: str, together: dict[str, Tensor], alone: dict[str, Tensor]) -> None:
    for key, value in together.items():
        beside, own = float(value[0].nan_to_num(nan=0.1)), float(alone[key][0].nan_to_num(nan=0.1))
        if abs(beside - own) > ROUNDING * (1.0 + abs(own)):
            raise ValueError(
                f"the metric {name} must give a seed the same value whatever seeds share the batch, whose "
                f"axes are (seeds, chains); alone it gives {own:.6g} as {key}, beside another {beside:.6g}"
            )
