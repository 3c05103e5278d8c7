"""All metrics of a run, built, updated and saved together.

    context = Context(target, kernel, seeds=S, chains=C, device=device, seed_values=(3, 4, ...))
    suite = MetricSuite(context, {"kl": KL, "mmd": partial(MMD, features=500)}, optional=("kl",))

    suite.update(step, kernel.draws(state), info)      # after every step that is measured
    suite.result()                                     # name -> (seeds,), float64
    suite.state_dict(), suite.load_state_dict(saved)   # torch.save, torch.load(weights_only=True)

`step` is the number of the step in the run, a Python int that increases by one. In a configuration, every
key of the group ``metric`` is a metric, but for ``_optional_``: the metrics that are left out where the
target or the kernel does not support them (only ``conf/metric/standard.yaml`` sets it).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch import Tensor

from metrics.metric import Context, Metric, Statistic, UndrawnMetric, UnsupportedMetric
from samplers.kernel import Info
from targets.checks import described
from targets.spaces import Discrete


class MetricSuite:
    """The metrics of one run.

    Args:
        context: the run; its statistics belong to this suite alone.
        factories: by a metric's name, the function (or class) that builds it from the context.
        optional: names of metrics that are left out where they are unsupported; True for all of them.

    Attributes:
        metrics: the metrics by name.
        left_out: the optional metrics that were left out, with the reason.
        undrawn: those of them that need draws from the target, of a kernel that makes none.

    Raises:
        UnsupportedMetric: if a metric that is not optional is unsupported by the target or the kernel.
        TypeError: if what a factory builds is no `Metric`.
    """

    def __init__(
        self,
        context: Context,
        factories: Mapping[str, Callable[[Context], Metric]],
        optional: bool | Collection[str] = False,
    ) -> None:
        self.context = context
        self.metrics: dict[str, Metric] = {}
        self.left_out: dict[str, str] = {}
        self.undrawn: list[str] = []
        self.updates = 0
        self._updates: list[Callable[[int, Tensor, Info], None]] | None = None
        may_be_left_out = set(factories if optional is True else optional or ())
        for name, build in factories.items():
            before = set(context.statistics)
            try:
                self.metrics[name] = _supporting(name, build(context), context)
            except UnsupportedMetric as unsupported:
                if name not in may_be_left_out:
                    raise
                self.left_out[name] = str(unsupported)
                if isinstance(unsupported, UndrawnMetric):
                    self.undrawn.append(name)
                for key in set(context.statistics) - before:
                    del context.statistics[key]

    @torch.no_grad()
    def update(self, step: int, theta: Tensor, info: Info) -> None:
        """Adds step number `step`: updates each shared statistic once, then each metric.

        Args:
            theta: the draws, ``(seeds, chains, *event_shape)``.
            info: what the step did.

        Raises:
            ValueError: if the first draws that it is given have another shape, or are no states.
        """
        if self._updates is None:
            self._check_draws(theta)
            parts = self.parts().values()
            self._updates = [part.update for part in parts if type(part).update is not Statistic.update]
        for update in self._updates:
            update(step, theta, info)
        self.updates += 1

    def _check_draws(self, theta: Tensor) -> None:
        """Once, since the host waits: others would be spread over the seeds, or taken for other states."""
        context, space = self.context, self.context.target.space
        expected = (context.seeds, context.chains, *space.event_shape)
        if tuple(theta.shape) != expected:
            raise ValueError(
                f"the draws must have the shape (seeds, chains, *event_shape), which is {expected}, "
                f"{tuple(theta.shape)} was given"
            )
        if isinstance(space, Discrete) and (first := space.outsider(theta)):
            raise ValueError(f"the draws must be states of {space}, {first} is among them")

    @torch.no_grad()
    def result(self) -> dict[str, Tensor]:
        """Each value's name and its value per seed, ``(seeds,)``, float64.

        Raises:
            ValueError: before the first update, if two metrics give a value of the same name, or if a metric
                gives no values by name, each a tensor with one number per seed.
        """
        if self.updates == 0:
            raise ValueError("the metrics have no draws: no step was taken after the burn-in")
        values: dict[str, Tensor] = {}
        givers: dict[str, str] = {}
        for name, metric in self.metrics.items():
            found: Any = metric.result()
            if not isinstance(found, Mapping):
                raise ValueError(f"the metric {name} must give its values by name, not {described(found)}")
            for key, value in found.items():
                if key in values:
                    raise ValueError(f"the metrics {givers[key]} and {name} both give a value named {key}")
                if not isinstance(value, Tensor) or value.shape != (self.context.seeds,):
                    shaped = isinstance(value, Tensor)
                    got = f"has the shape {tuple(value.shape)}" if shaped else f"is {described(value)}"
                    raise ValueError(
                        f"the metric {name} must give one number per seed ({self.context.seeds}), {key} {got}"
                    )
                values[key], givers[key] = value.double(), name
        return values

    def merge(self, other: MetricSuite) -> None:
        """Adds what a suite of the same metrics accumulated over later steps of the same chains."""
        theirs = other.parts()
        for key, part in self.parts().items():
            part.merge(theirs[key])
        self.updates += other.updates

    def state_dict(self) -> dict[str, Any]:
        """The accumulated state in plain tensors, numbers and lists."""
        return {
            "updates": self.updates,
            "parts": {key: part.state_dict() for key, part in self.parts().items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`, with the same bits as without the interruption.

        Raises:
            ValueError: if it was saved by other metrics.
        """
        parts = self.parts()
        if set(state["parts"]) != set(parts):
            raise ValueError(f"the checkpoint measures {sorted(state['parts'])}, this run {sorted(parts)}")
        for key, part in parts.items():
            part.load_state_dict(state["parts"][key])
        self.updates = int(state["updates"])

    def parts(self) -> dict[str, Statistic]:
        """Shared statistics in the order in which they were built, then the metrics."""
        return {**self.context.statistics, **self.metrics}


def _supporting(name: str, metric: object, context: Context) -> Metric:
    """`metric`, if what it counts as draws from the target are such draws with the context's kernel.

    Raises:
        UnsupportedMetric: if chains move between temperatures and it would count all their states as draws,
            or if the kernel makes no draws from the target at all.
        TypeError: if it is no `Metric`.
    """
    if not isinstance(metric, Metric):
        raise TypeError(f"what builds {name} must give a metrics.Metric, it gave {described(metric)}")
    kernel = type(context.kernel).__name__
    if context.kernel.has_levels and not metric.supports_levels:
        raise UnsupportedMetric(
            f"{name} would count states of all temperature levels as draws from the target; with {kernel}, "
            "choose metrics that count those of the cold level alone"
        )
    if metric.needs_draws and not context.kernel.draws_target:
        raise UndrawnMetric(
            f"{name} needs draws from the target; the states of {kernel} are no such draws, since they "
            "depend on its schedule"
        )
    return metric
