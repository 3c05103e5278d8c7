"""Draws of several chains with their statistics, in the layout of ArviZ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.library.named_metrics import Factory, metric_classes, metric_factories
from metrics.library.thread_count import thread_count
from metrics.library.torch_modes import ordinary_modes
from metrics.metric import Context
from metrics.mixing.diagnostics import effective_sample_size, potential_scale_reduction
from metrics.suite import MetricSuite
from metrics.trial import FEWEST, check_attributes, try_metric
from samplers.kernel import Info, Kernel
from targets import Target

Array = NDArray[Any]

TRIED = 3
"""Draws of each chain on which metrics of one's own are tried."""


@dataclass(frozen=True, eq=False)
class Chains:
    """What made the draws: see `metrics.library.run_chains.run_chains`, which has these arguments.

    Attributes:
        threads: CPU threads that drew them, and measure them: another number rounds sums differently.
    """

    target: Target
    kernel: Kernel
    burn_in: int
    thin: int
    seed: int
    threads: int


@dataclass(frozen=True, eq=False)
class ChainDraws:
    """The result of `metrics.library.run_chains.run_chains`.

    Attributes:
        draws: states ``(chain, draw, *event_shape)``.
        log_prob: U of the draws, ``(chain, draw)``.
        acceptance: mean acceptance probability of the steps since the last draw, ``(chain, draw)``.
        evaluations: evaluations of the target per chain from the first step to each draw, ``(draw,)``.
        infos: what the step before each draw did, of one seed's chains: tensors ``(1, chain)``.
        source: what made them.
    """

    draws: Array
    log_prob: Array
    acceptance: Array
    evaluations: NDArray[np.int64]
    infos: tuple[Info, ...]
    source: Chains

    @property
    def info(self) -> Mapping[str, Array]:
        """What the steps did, ``(chain, draw)`` each, with tempering ``(chain, draw, pair or rung)``.

        ``acceptance_rate`` as `acceptance`; of the step before each draw ``jump`` and, with a ladder,
        ``swap_probability``, ``swap_attempted``, ``swap_accepted`` and ``replica`` (`samplers.kernel.Info`).
        """
        found = {"acceptance_rate": self.acceptance, "jump": _along([info.jump for info in self.infos])}
        swaps = [info.swap for info in self.infos if info.swap is not None]
        if swaps:
            for name in ("probability", "attempted", "accepted"):
                found[f"swap_{name}"] = _along([getattr(swap, name) for swap in swaps])
            found["replica"] = _along([swap.replica for swap in swaps])
        return found

    def groups(self) -> dict[str, dict[str, Array]]:
        """Draws and statistics by ArviZ's groups and variables, each ``(chain, draw, ...)``.

        This is the argument of ``arviz.from_dict`` (ArviZ 1) and ``arviz_base.from_dict``:
        ``posterior`` with ``theta``; ``sample_stats`` with ``lp`` (U) and ``acceptance_rate``, as ArviZ calls
        them, ``evaluations`` (of the target so far), and the rest of `info`.
        """
        evaluations = np.broadcast_to(self.evaluations, self.log_prob.shape)
        return {
            "posterior": {"theta": self.draws},
            "sample_stats": {"lp": self.log_prob, "evaluations": evaluations, **self.info},
        }

    def to_arviz(self) -> Any:
        """The same as an ``xarray.DataTree``, which ArviZ takes: ``plot_trace``, ``plot_rank``, ``ess``, ...

        Raises:
            ModuleNotFoundError: without arviz-base, which ``pip install -e '.[arviz]'`` installs.
        """
        try:
            from arviz_base import from_dict
        except ModuleNotFoundError as error:
            missing = f"to_arviz needs {error.name}; pip install -e '.[arviz]' installs it"
            raise ModuleNotFoundError(missing, name=error.name) from error

        # Many chains with few draws are what was asked for, no axes that were mixed up.
        return from_dict(self.groups(), check_conventions=False)

    def metrics(self, wanted: Iterable[str | Factory]) -> dict[str, float]:
        """Metrics of the draws, by their names as in ``conf/metric`` or by their classes.

            runner.sample("mog", "dmala").metrics(["tv", "kl", "emc"])

        The numbers are those of the runner's task ``sample``, bit for bit.

        Those of one's own are tried on the first draws before, as in the runner.

        Raises:
            ValueError: for an unknown metric, one that the target or the kernel cannot serve, one of one's
                own that does not do what `Metric` says, or draws of ``thin`` above 1: metrics of tempering
                need every step.
            TypeError: for what builds no `Metric`.
        """
        factories, source = metric_factories(wanted), self.source
        if source.thin != 1:
            raise ValueError(f"metrics need the draws of every step, thin={source.thin} was given")
        with thread_count(source.threads), ordinary_modes():
            suite = self._suite(factories)
            self._try_own(suite, factories)
            for step, (theta, info) in enumerate(self._steps(), start=source.burn_in + 1):
                suite.update(step, theta, info)
            return {name: float(value[0]) for name, value in suite.result().items()}

    def _suite(self, factories: Mapping[str, Factory]) -> MetricSuite:
        source = self.source
        device, chains = source.target.like().device, len(self.draws)
        context = Context(source.target, source.kernel, 1, chains, device, seed_values=(source.seed,))
        return MetricSuite(context, factories)

    def _steps(self) -> Iterator[tuple[Tensor, Info]]:
        """The draws ``(1, chain, *event_shape)`` one by one, each a tensor of its own, and their steps."""
        like = self.source.target.like()
        for theta, info in zip(self.draws.swapaxes(0, 1), self.infos, strict=True):
            yield torch.from_numpy(theta.copy()).to(like).unsqueeze(0), info

    def _try_own(self, suite: MetricSuite, factories: Mapping[str, Factory]) -> None:
        """Tries the metrics of `suite` that are none of ours, since a wrong one may spoil the others."""
        first, ours = list(islice(self._steps(), TRIED)), set(metric_classes().values())
        for name, metric in suite.metrics.items():
            if type(metric) in ours:
                continue
            check_attributes(name, metric)
            if len(first) >= FEWEST:
                try_metric(name, partial(self._suite, {name: factories[name]}), first)

    def ess(self) -> Array:
        """Bulk effective sample size of each coordinate, ``event_shape``: `metrics.mixing.diagnostics`."""
        return self._each(effective_sample_size)

    def rhat(self) -> Array:
        """R-hat of each coordinate, ``event_shape``: `metrics.mixing.diagnostics`."""
        return self._each(potential_scale_reduction)

    def diagnostics(self) -> dict[str, float]:
        """ESS and R-hat of U, their worst values over coordinates, and the mean acceptance probability."""
        return {
            "ess": effective_sample_size(self.log_prob),
            "rhat": potential_scale_reduction(self.log_prob),
            "ess_min": float(self.ess().min()),
            "rhat_max": float(self.rhat().max()),
            "acceptance": float(self.acceptance.mean()),
        }

    def _each(self, measure: Callable[[Array], float]) -> Array:
        """`measure` of the series ``(chain, draw)`` of every coordinate."""
        flat = self.draws.reshape(*self.draws.shape[:2], -1)
        values = [measure(flat[..., place]) for place in range(flat.shape[-1])]
        return np.asarray(values).reshape(self.draws.shape[2:])


def _along(steps: list[Tensor]) -> Array:
    """Values of each step ``(*rungs, 1, chain)`` as ``(chain, draw, *rungs)``."""
    values = torch.stack(steps).squeeze(-2).movedim(-1, 0)
    return values.cpu().numpy()
