"""Feeding metrics with draws made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from metrics import Context, Metric, MetricSuite
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.kernel import Info, Kernel, State, SwapInfo
from targets.randomness import Generator
from targets.target import Target


class Ladder(Kernel):
    """A kernel that says it has replicas and does nothing."""

    def __init__(self, replicas: int = 0) -> None:
        self.axes = (replicas,) if replicas else ()

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return State(theta, target.log_prob(theta))

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        return state, Info(torch.ones_like(state.log_prob), torch.zeros_like(state.log_prob), 0)


def context(target: Target, seeds: int = 1, chains: int = 1, replicas: int = 0, **more: Any) -> Context:
    """A context on the CPU."""
    return Context(target, Ladder(replicas), seeds, chains, torch.device("cpu"), **more)


def silent(seeds: int, chains: int) -> Info:
    """The report of a step that accepted everything and moved nothing."""
    return Info(torch.ones(seeds, chains), torch.zeros(seeds, chains), 1)


def noisy_infos(steps: int, seeds: int, chains: int, replicas: int = 4) -> list[Info]:
    """Reports with random acceptances, jumps and swaps; labels follow from the swaps (odd-even)."""
    generator = torch.Generator().manual_seed(11)
    label = torch.arange(replicas).reshape(-1, 1, 1).expand(replicas, seeds, chains).clone()
    infos = []
    for step in range(steps):
        probability = torch.rand(replicas - 1, seeds, chains, generator=generator)
        attempted = torch.zeros(replicas - 1, seeds, chains, dtype=torch.bool)
        attempted[step % 2 :: 2] = True
        accepted = attempted & (torch.rand(probability.shape, generator=generator) < 0.8)
        for pair in range(step % 2, replicas - 1, 2):
            label[pair : pair + 2] = torch.where(
                accepted[pair], label[pair : pair + 2].flip(0), label[pair : pair + 2]
            )
        acceptance, jump = torch.rand(2, seeds, chains, generator=generator)
        swap = SwapInfo(probability, attempted, accepted, label.clone())
        rungs = torch.rand(replicas, seeds, chains, generator=torch.Generator().manual_seed(step))
        infos.append(Info(acceptance, jump, 1, swap, rungs=rungs, hot_jump=(rungs[-1] > 0.7).float()))
    return infos


def measure(
    run: Context,
    metrics: Sequence[Callable[[Context], Metric]],
    draws: Tensor,
    infos: Sequence[Info] | None = None,
    first_step: int = 1,
) -> MetricSuite:
    """A suite that has seen the `draws` ``(steps, seeds, chains, *event_shape)``."""
    suite = MetricSuite(run, {str(place): metric for place, metric in enumerate(metrics)})
    for place, theta in enumerate(draws):
        info = infos[place] if infos else silent(run.seeds, run.chains)
        suite.update(first_step + place, theta, info)
    return suite


def counted(run: Context, metrics: Sequence[Callable[[Context], Metric]], counts: Tensor) -> MetricSuite:
    """A suite whose visit histogram holds the `counts` ``(seeds, size)``, as if drawn in one step."""
    draws = int(counts[0].sum())
    assert run.chains == draws, "one step has as many draws as chains"
    suite = MetricSuite(run, {str(place): metric for place, metric in enumerate(metrics)})
    visits = run.statistic(VisitHistogram)
    visits.counts.copy_(counts)
    visits.steps = suite.updates = 1
    return suite


def random_draws(target: Target, steps: int, seeds: int, chains: int, seed: int = 0) -> Tensor:
    """Uniform states ``(steps, seeds, chains, *event_shape)``."""
    return target.initial((steps, seeds, chains), torch.Generator().manual_seed(seed))


@dataclass(frozen=True)
class Run:
    """Metrics of a target, and the draws ``(steps, seeds, chains, *event_shape)`` that they are fed with."""

    target: Target
    metrics: Sequence[Callable[[Context], Metric]]
    draws: Tensor
    infos: Sequence[Info] | None = None
    kernel: Kernel | None = None

    def fed(self, start: int = 0, end: int | None = None, seeds: slice = slice(None)) -> MetricSuite:
        """A suite of some of the seeds that has seen the steps from `start` to `end`."""
        values = tuple(range(3, 3 + self.draws.shape[1]))[seeds]
        swaps = [info.swap.replica for info in self.infos or () if info.swap]
        kernel = self.kernel or Ladder(len(swaps[0]) if swaps else 0)
        size = len(values), self.draws.shape[2]
        made = Context(self.target, kernel, *size, torch.device("cpu"), seed_values=values)
        suite = MetricSuite(made, {str(place): metric for place, metric in enumerate(self.metrics)})
        self.go_on(suite, start, end, seeds)
        return suite

    def go_on(
        self, suite: MetricSuite, start: int, end: int | None = None, seeds: slice = slice(None)
    ) -> None:
        """Feeds the steps from `start` to `end`."""
        for place, theta in list(enumerate(self.draws))[start:end]:
            info = self.infos[place] if self.infos else silent(*self.draws.shape[1:3])
            suite.update(place + 1, theta[seeds], of_seeds(info, seeds))


def of_seeds(info: Info, seeds: slice) -> Info:
    """What a step did, of some of the seeds."""
    swap = info.swap
    if swap is not None:
        parts = (swap.probability, swap.attempted, swap.accepted, swap.replica)
        swap = SwapInfo(*(part[:, seeds] for part in parts))
    level = None if info.level is None else info.level[seeds]
    rungs = None if info.rungs is None else info.rungs[:, seeds]
    acceptance, jump = info.acceptance[seeds], info.jump[seeds]
    hot = None if info.hot_jump is None else info.hot_jump[seeds]
    aux = {name: value[seeds] for name, value in info.aux.items()}
    parts = {"acceptance": acceptance, "jump": jump, "hot_jump": hot, "aux": aux}
    return replace(info, **parts, swap=swap, level=level, rungs=rungs)


def walk(kernel: Kernel, target: Target, steps: int, seeds: int, chains: int, seed: int = 0) -> Tensor:
    """States of a kernel after each step, ``(steps, seeds, chains, *event_shape)``."""
    generator, one = torch.Generator().manual_seed(seed), torch.ones((), dtype=torch.float64)
    state = kernel.init(target, target.initial((seeds, chains), generator), one)
    draws = []
    for _ in range(steps):
        state, _ = kernel.step(target, state, one, generator)
        draws.append(state.theta)
    return torch.stack(draws)
