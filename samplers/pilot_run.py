"""A pilot as counted steps, between which it can be stopped and later continued.

A pilot is a Python generator whose loops are walks (`PilotRun.walk`); what lies between them is quick and
depends on their results alone. So it is taken up by running it again: walks that had ended give their results
at once, the one that was cut short goes on where it was, with the random numbers that it would have had.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from targets import randomness
from targets.target import Target

BLOCK_STEPS, BLOCK_SECONDS = 50, 0.5
"""The longest stretch between two moments at which a pilot can be stopped."""

Values = dict[str, Any]
"""What a walk carries from step to step: tensors, numbers, lists, and dataclasses of tensors."""

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"""Work that pauses after each of its steps, and returns a `Result`."""


class PilotRun(Generic[Result]):
    """A pilot that runs `pilot` on `target`.

    Args:
        pilot: such as `samplers.tuning.tunable.Tunable.tuning`.
        generator: of its random numbers, with one seed.
        effort: how much it may do, as a share of the full pilot.

    Attributes:
        position: steps that are done.
        planned: steps that are still to come at most; a pilot that knows says so before its first walk.
        result: what was found; None before the end.
        trace: what was tried in each round and what came of it, row by row (`note`).
    """

    def __init__(
        self,
        pilot: Callable[[Target, PilotRun[Result]], Steps[Result]],
        target: Target,
        generator: randomness.Generator,
        effort: float = 1.0,
    ) -> None:
        self.target, self.generator, self.effort = target, generator, effort
        self.position = self.planned = self._left = 0
        self.result: Result | None = None
        self.trace: list[dict[str, Any]] = []
        self._walks: list[Values] = []
        self._saved: Mapping[str, Any] | None = None
        self._steps = pilot(target, self)

    @property
    def done(self) -> bool:
        """Whether the result is there."""
        return self.result is not None

    @property
    def total(self) -> int:
        """Steps in all, as far as is known: what is planned may turn out to be more than it takes."""
        return self.position + (0 if self.done else max(self.planned, self._left))

    def sized(self, full: int, least: int) -> int:
        """A number of steps or chains, `full` in a full pilot, as the effort allows; never below `least`."""
        return max(least, round(self.effort * full))

    @torch.no_grad()
    def advance(self) -> None:
        """Goes on for `BLOCK_STEPS` steps or `BLOCK_SECONDS`, whichever is less.

        Raises:
            ValueError: if the target cannot be tuned to.
        """
        if self.done:
            return
        until = time.monotonic() + BLOCK_SECONDS
        try:
            for _ in range(BLOCK_STEPS):
                next(self._steps)
                if time.monotonic() >= until:
                    break
        except StopIteration as ended:
            self.result = ended.value

    def to_end(self) -> Result:
        """What the pilot finds."""
        while self.result is None:
            self.advance()
        return self.result

    def walk(
        self, begin: Callable[[], Values], step: Callable[[Values], bool | None], at_most: int
    ) -> Steps[Values]:
        """The values after the last step of a loop.

        Args:
            begin: those before the first step. Random numbers are drawn here and in `step` alone.
            step: changes the values in place; True ends the walk.
            at_most: steps.
        """
        values = {"steps": 0, "over": at_most < 1, "trace": [], **begin()}
        if self._saved is not None:
            walks, place = self._saved["walks"], len(self._walks)
            values = _restored(values, walks[place], self.generator.device)
            if place + 1 == len(walks):
                _set_state(self.generator, self._saved["random"])
                self._saved = None
        self._walks.append(values)
        self._settle(values["steps"], at_most - values["steps"], over=values["over"])
        while not values["over"]:
            ended = step(values)
            values["steps"] += 1
            values["over"] = bool(ended) or values["steps"] >= at_most
            self._settle(1, at_most - values["steps"], over=values["over"])
            yield
        self.trace += values["trace"]
        return values

    def note(self, stage: str, **columns: Any) -> None:
        """Adds to the trace what the latest walk has tried: a row for each element of the columns.

        Args:
            stage: what was looked for, such as ``step sizes``.
            columns: tensors, lists or numbers that broadcast together.
        """
        found = [torch.as_tensor(column, dtype=torch.float64).cpu() for column in columns.values()]
        shape = torch.broadcast_shapes(*(each.shape for each in found))  # type: ignore[no-untyped-call]
        rows = zip(*(each.expand(shape).flatten().tolist() for each in found), strict=True)
        walk = self._walks[-1]
        # A walk that is taken up gives its rows again, and what lies between walks is run again.
        trace = self.trace if walk["over"] else walk["trace"]
        about = {"stage": stage, "round": len(self._walks)}
        trace += [about | dict(zip(columns, row, strict=True)) for row in rows]

    def _settle(self, steps: int, left: int, *, over: bool) -> None:
        """Notes `steps` that are done, and at most `left` that are to come in this walk; none if `over`."""
        self.position, self._left = self.position + steps, 0 if over else left
        self.planned = max(0, self.planned - steps - (left if over else 0))

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything that the rest of the pilot depends on, but the target."""
        walks = [_plain(values) for values in self._walks]
        return copy.deepcopy({"walks": walks, "random": _state(self.generator)})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues where `saved` was; to be called before the first step.

        Raises any exception if it is no state of this pilot.
        """
        if saved["walks"]:
            self._saved = saved
            self.advance()


def _plain(values: Values) -> Values:
    """`values` with dataclasses as dictionaries of their fields, and series of tensors as one tensor."""

    def plain(value: Any) -> Any:
        if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        series = isinstance(value, list) and value and isinstance(value[0], Tensor)
        return torch.stack(value) if series else value

    return {name: plain(value) for name, value in values.items()}


def _restored(begun: Values, saved: Mapping[str, Any], device: torch.device) -> Values:
    """The values that `_plain` made `saved` of, each as it is in `begun`."""
    if set(saved) != set(begun):
        raise ValueError("the state of another walk")

    def restored(value: Any, like: Any) -> Any:
        if is_dataclass(like):
            kind: Any = type(like)
            return kind(**value)
        return list(value.unbind(0)) if isinstance(like, list) and isinstance(value, Tensor) else value

    return {name: restored(_moved(value, device), begun[name]) for name, value in saved.items()}


def _moved(value: Any, device: torch.device) -> Any:
    """`value` with its tensors on `device`, at any depth."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {name: _moved(each, device) for name, each in value.items()}
    return [_moved(each, device) for each in value] if isinstance(value, list) else value


def _state(generator: randomness.Generator) -> Any:
    return generator.get_state() if isinstance(generator, torch.Generator) else generator.state_dict()


def _set_state(generator: randomness.Generator, saved: Any) -> None:
    if isinstance(generator, torch.Generator):
        generator.set_state(saved)
    else:
        generator.load_state_dict(saved)
