"""A run that is open in W&B: its axes, its history, its summary."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
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


@dataclass
class OpenRun:
    """A run that is open in W&B: what was logged up to where, and which metrics it knows."""

    run: Any
    config: Mapping[str, Any]
    step: float = -math.inf
    iteration: float = -math.inf
    defined: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, run: Any, config: Mapping[str, Any]) -> OpenRun:
        """A run that starts, or goes on where its summary says."""
        opened = cls(run, config)
        if run.resumed:
            opened.step = _number(run.summary.get("step"))
            opened.iteration = _number(run.summary.get("training/iteration"))
        for axis in AXES:
            run.define_metric(axis)
        return opened

    def log(self, step: int, values: Mapping[str, float], pictures: Making | None = None) -> None:
        """Writes metrics and pictures after `step` steps, unless W&B has them already."""
        if step <= self.step:
            return
        for name in values:
            self._define(name)
        # One NaN would stay the least and the largest value of the whole run.
        row: dict[str, Any] = {name: value for name, value in values.items() if value == value}
        self.run.log({"step": step, **row, **dict(_images(pictures))})
        self.step = step

    def training(self, iteration: int, values: Mapping[str, float], pictures: Making | None = None) -> None:
        """Writes how far the training is of the model that the run waits for, and what its chains are."""
        if iteration <= self.iteration:
            return
        if "training/*" not in self.defined:
            self.defined.add("training/*")
            self.run.define_metric("training/*", step_metric="training/iteration")
        row = {f"training/{name}": value for name, value in [*values.items(), *_images(pictures)]}
        self.run.log({"training/iteration": iteration, **row})
        self.iteration = iteration

    def finish(self, summary: Mapping[str, Any], failed: bool) -> None:
        """Writes the summary and closes the run.

        Raises:
            TimeoutError: if the server does not take what is left in time.
        """
        own = {key: value for key, value in summary.items() if key not in UNSUMMARISED}
        missing = {name: None for name, value in (summary.get("metrics") or {}).items() if value is None}
        # As it is on disk: W&B takes no other keys than text.
        self.run.summary.update({**missing, **json.loads(json.dumps(own))})
        self.run.finish(exit_code=1 if failed else 0)

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


def _number(value: Any) -> float:
    """How far a run had come that goes on, from its summary; minus infinity where it says nothing."""
    return float(value) if isinstance(value, int | float) else -math.inf
