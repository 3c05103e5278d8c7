"""A run that is open in W&B: its axes, its history, its summary.

A server adds to a history and changes nothing in it. A run that was cut short, or whose batch starts again
without a seed that failed, has other seconds the second time than those that were sent. When it is done, an
offline copy is written again as a whole; in a server's copy the summary says up to where they are of before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import wandb

from runner.problem.metric_directions import metric_direction
from runner.store.arrays.pictures import image_of

if TYPE_CHECKING:
    from runner.store.arrays.pictures import Making

AXES = ("step", "evaluations", "seconds")
"""What curves can be drawn against; the first is the default."""

UNSUMMARISED = ("metrics", *AXES)
"""Entries of a summary that the history gives."""


STALE, OTHER = "history_seconds", "history_values"
"""Entries of a summary that say up to which step the history has other seconds, or other values, than the
run."""


@dataclass
class OpenRun:
    """A run that is open in W&B: what was logged up to where, and which metrics it knows.

    Attributes:
        anew: opens the run in place of the one that W&B has; None where it would be continued.
        seconds: those that W&B has, by step; of a run that goes on, at its last step alone.
        said: the last that was said of each step, and of each iteration of the training.
        pictures: those of the last step that had some.
        stale: the last step of which W&B has the seconds of an attempt that was given up.
        before: of a run that goes on, what W&B has of the metrics at its last step.
        other: whether these are others now, as after a change of the source code.
    """

    run: Any
    config: Mapping[str, Any]
    anew: Callable[[], Any] | None = None
    step: float = -math.inf
    iteration: float = -math.inf
    defined: set[str] = field(default_factory=set)
    seconds: dict[float, float] = field(default_factory=dict)
    said: dict[int, Mapping[str, float]] = field(default_factory=dict)
    trained: dict[int, Mapping[str, float]] = field(default_factory=dict)
    pictures: tuple[int, Making] | None = None
    stale: int | None = None
    before: dict[str, float] = field(default_factory=dict)
    other: bool = False

    @classmethod
    def of(cls, run: Any, config: Mapping[str, Any], anew: Callable[[], Any] | None = None) -> OpenRun:
        """A run that starts, or goes on where its summary says."""
        opened = cls(run, config, anew)
        if run.resumed:
            opened.step = _number(run.summary.get("step"))
            opened.iteration = _number(run.summary.get("training/iteration"))
            opened.seconds[opened.step] = _number(run.summary.get("seconds"))
            opened.before = _last_values(run.summary)
        for axis in AXES:
            run.define_metric(axis)
        return opened

    def log(self, step: int, values: Mapping[str, float], pictures: Making | None = None) -> None:
        """Writes metrics and pictures after `step` steps, unless W&B has them already."""
        self.said[step] = values
        if pictures is not None:
            self.pictures = step, pictures
        seconds, known = values.get("seconds"), self.seconds.get(step)
        if seconds is not None and known is not None and not math.isclose(seconds, known, rel_tol=1e-9):
            self.stale = step if self.stale is None else max(self.stale, step)
        # Of earlier steps W&B has rows alone, which its client does not read.
        had = self.before if step == self.step else {}
        self.other |= any(_differ(had.get(name), value) for name, value in values.items() if name not in AXES)
        if step <= self.step:
            return
        if seconds is not None:
            self.seconds[step] = seconds
        for name in values:
            self._define(name)
        # One NaN would stay the least and the largest value of the whole run.
        row: dict[str, Any] = {name: value for name, value in values.items() if value == value}
        self.run.log({"step": step, **row, **dict(_images(pictures))})
        self.step = step

    def training(self, iteration: int, values: Mapping[str, float], pictures: Making | None = None) -> None:
        """Writes how far the training is of the model that the run waits for, and what its chains are."""
        self.trained[iteration] = values
        if iteration <= self.iteration:
            return
        if "training/*" not in self.defined:
            self.defined.add("training/*")
            self.run.define_metric("training/*", step_metric="training/iteration")
        row = {f"training/{name}": value for name, value in [*values.items(), *_images(pictures)]}
        self.run.log({"training/iteration": iteration, **row})
        self.iteration = iteration

    def finish(self, summary: Mapping[str, Any], failed: bool) -> None:
        """Writes the summary and closes the run; of a done one no offline copy has stale seconds then.

        Raises:
            TimeoutError: if the server does not take what is left in time.
        """
        own = {key: value for key, value in summary.items() if key not in UNSUMMARISED}
        if self.stale is not None and not failed:
            if self.anew is None:
                said = f"of an earlier attempt up to step {self.stale}; metrics.csv has the run's"
                own |= {STALE: said, **({OTHER: said} if self.other else {})}
            else:
                self._write_again(self.anew)
        missing = {name: None for name, value in (summary.get("metrics") or {}).items() if value is None}
        # As it is on disk: W&B takes no other keys than text.
        self.run.summary.update({**missing, **json.loads(json.dumps(own))})
        self.run.finish(exit_code=1 if failed else 0)

    def _write_again(self, anew: Callable[[], Any]) -> None:
        """Puts all that was said in the place of what there is, with the pictures of the last step alone."""
        self.run.finish(exit_code=0)
        again = OpenRun.of(anew(), self.config)
        for iteration, values in sorted(self.trained.items()):
            again.training(iteration, values)
        at, pictures = self.pictures or (None, None)
        for step, values in sorted(self.said.items()):
            again.log(step, values, pictures if step == at else None)
        self.run = again.run

    def _define(self, name: str) -> None:
        """Tells W&B a metric's axis, and that its best value and its last one, the result, summarise it."""
        if name in self.defined or name in AXES:
            return
        self.defined.add(name)
        node = (self.config.get("metric") or {}).get(name)
        direction = metric_direction(name, node.get("_target_") if isinstance(node, Mapping) else None)
        best = {"min": "min,last", "max": "max,last"}.get(direction, "last")
        self.run.define_metric(name, step_metric=AXES[0], summary=best)


def _images(pictures: Making | None) -> list[tuple[str, wandb.Image]]:
    """The pictures, where there are any, as W&B takes them, by name."""
    return [(name, wandb.Image(image_of(each))) for name, each in (pictures() if pictures else {}).items()]


def _last_values(summary: Any) -> dict[str, float]:
    """The last value of each metric in the summary of a run that goes on."""
    found = dict(summary).items()
    lasts = {str(name): each.get("last") if hasattr(each, "get") else each for name, each in found}
    return {name: float(each) for name, each in lasts.items() if isinstance(each, int | float)}


def _differ(one: float | None, other: float) -> bool:
    return one is not None and other == other and not math.isclose(one, other, rel_tol=1e-6)


def _number(value: Any) -> float:
    """How far a run had come that goes on, from its summary; minus infinity where it says nothing."""
    return float(value) if isinstance(value, int | float) else -math.inf
