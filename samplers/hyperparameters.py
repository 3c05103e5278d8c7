"""Checks of hyperparameters that constructors share: errors name the key, the value and what is allowed.

`positive` alone imports torch, so that the runner can make the other checks before torch is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from targets.checks import is_number, positive_number, whole_number, within

if TYPE_CHECKING:
    from torch import Tensor

AUTO = "auto"
STMH = "stmh"
"""In place of a step size: the R of STMH's conditions, at every level of simulated tempering."""


def positive(key: str, value: Any) -> Tensor:
    """`value` as a float64 scalar tensor; a tensor is returned as it is.

    The numbers in a tensor are not looked at: that would wait for the device in every step.

    Raises:
        ValueError: if it is not a positive finite number.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(positive_number(key, value), dtype=torch.float64)


def one_number(value: Any) -> Any:
    """The number in a tensor of one number; anything else as it is."""
    return value.item() if hasattr(value, "numel") and value.numel() == 1 else value


def positive_or_auto(key: str, value: Any) -> Any:
    """`value` if it is ``auto`` or `positive` takes it; ValueError otherwise."""
    if not (isinstance(value, str) and value == AUTO) and not hasattr(value, "dtype"):  # no tensor
        positive_number(key, value, "a positive number or 'auto'")
    return value


def check_ladder_sizes(
    given: Any, rungs: Any, kernel: str, *, takes: bool, words: Sequence[str] = ()
) -> None:
    """Refuses a ladder's step size unless it is one number, one for each of its `rungs`, or one of `words`.

    Args:
        rungs: how many there are; anything but a number where that is not known yet.
        kernel: name of what the ladder tempers.
        takes: whether that takes a step size.

    Raises:
        ValueError: if it does not go with the kernel or the ladder.
    """
    if not takes:
        raise ValueError(
            f"step_size must be null around {kernel}, which has its own or needs none, {given!r} was given"
        )
    if isinstance(given, str) or not isinstance(given, Sequence):
        if not hasattr(given, "dtype") and given not in words:
            *others, last = ("a positive number", *map(repr, words))
            positive_number("step_size", given, f"{', '.join(others)} or {last}" if others else last)
        return
    if len(given) != rungs or not given:
        allowed = ", ".join(["one number", *map(repr, words)])
        raise ValueError(
            f"step_size must be {allowed} or one number for each rung of the ladder, "
            f"{list(given)!r} was given"
        )
    for value in given:
        if not hasattr(value, "dtype"):
            positive_number("step_size", value)


def wanted_acceptance(value: Any, key: str = "acceptance") -> float:
    """An acceptance probability that a pilot may aim at; ValueError unless it is from 0.01 to 0.99."""
    return within(key, value, 0.01, 0.99)


def is_word(value: object, *words: str) -> bool:
    """Whether `value` is one of `words`; an array, which may stand in place of one, compares by element."""
    return isinstance(value, str) and value in words


def decreasing_ladder(ladder: Any, *, auto: bool = True) -> list[float]:
    """Inverse temperatures that decrease strictly from 1 to at least 0, two or more.

    Args:
        auto: whether the caller would have taken ``"auto"``, too; for the message.

    Raises:
        ValueError: if they do not.
    """
    given = "at least two numbers that decrease strictly from 1 and stay in [0, 1]"
    allowed = f"ladder must be {AUTO!r} or {given}" if auto else f"ladder must be {given}"
    values = ladder.tolist() if hasattr(ladder, "tolist") else ladder  # a tensor
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"{allowed}, {values!r} was given")
    values = list(values)
    valid = len(values) >= 2 and all(is_number(value) and 0 <= value <= 1 for value in values)
    if not valid or values[0] != 1 or any(a <= b for a, b in pairwise(values)):
        raise ValueError(f"{allowed}, {values!r} was given")
    return [float(value) for value in values]


def check_replicas(replicas: Any, ladder: Any) -> None:
    """Raises ValueError if a number of replicas and a ladder are given that do not fit."""
    if replicas != AUTO and not is_word(ladder, AUTO) and replicas != len(ladder):
        raise ValueError(f"replicas={replicas} does not fit the ladder given, which has {len(ladder)} rungs")


def hottest_rung(hottest: Any, ladder: Any) -> float:
    """The inverse temperature at which a ladder that a pilot finds is to end.

    Raises:
        ValueError: unless it is at least 0 and below 1, and 0 where the ladder is given.
    """
    if not is_number(hottest) or not 0 <= hottest < 1:
        raise ValueError(f"hottest must be a number of at least 0 and below 1, {hottest!r} was given")
    if hottest != 0 and not is_word(ladder, AUTO):
        raise ValueError(f"hottest={hottest} is for ladder={AUTO}; the ladder given ends at {ladder[-1]}")
    return float(hottest)


def check_floor(step_size: Any, min_step_size: Any) -> None:
    """Raises ValueError if the floor of a cycle is above its largest step, where both are given."""
    if AUTO not in (step_size, min_step_size) and min_step_size > step_size:
        raise ValueError(
            f"min_step_size must not exceed step_size={step_size:g}, {min_step_size!r} was given"
        )


def balanced(value: Any, *, auto: bool = False) -> float:
    """A balancing constant from locally (1/2) to globally balanced (1).

    Args:
        auto: whether the caller would have taken ``"auto"``, too; for the message.

    Raises:
        ValueError: for any other.
    """
    if not is_number(value) or not 0.5 <= value <= 1.0:
        allowed = f"a number from 0.5 to 1{f' or {AUTO!r}' if auto else ''}"
        raise ValueError(f"balancing must be {allowed}, {value!r} was given")
    return float(value)


def move_rate(value: Any) -> float:
    """The probability of a move between levels; ValueError unless it is between 0 and 1, both excluded."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"rate must be a number between 0 and 1, both excluded, {value!r} was given")
    return float(value)


def cycle_positions(cycle_length: Any, steps: Any, cycles: Any) -> int:
    """Positions of a cycle: `cycle_length`, or those of `steps` in so many `cycles`, at least 2.

    Raises:
        ValueError: for what is no whole number, or where neither is given.
    """
    number = whole_number("cycles", cycles)
    if cycle_length is not None:
        return whole_number("cycle_length", cycle_length, 2)
    if steps is None:
        raise ValueError("steps or cycle_length must be given, neither was")
    return max(2, whole_number("steps", steps) // number)


def cycle_balancing(value: Any, cycle_length: int, *, auto: bool = False) -> list[float]:
    """One balancing constant for each position of a cycle.

    Args:
        auto: whether the caller would have taken ``"auto"``, too; for the message.

    Raises:
        ValueError: unless `value` is a number from 0 to 1, or one for each position.
    """
    if is_number(value):
        return [within("balancing", value, 0.0, 1.0)] * cycle_length
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != cycle_length:
        raise ValueError(
            f"balancing must be {f'{AUTO!r}, ' if auto else ''}a number from 0 to 1, or one for each of the "
            f"{cycle_length} positions, {value!r} was given"
        )
    return [within("balancing", each, 0.0, 1.0) for each in value]
