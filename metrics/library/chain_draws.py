"""Draws of several chains with their statistics, in the layout of ArviZ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.mixing.diagnostics import effective_sample_size, potential_scale_reduction

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ChainDraws:
    """The result of `metrics.library.run_chains.run_chains`.

    Attributes:
        draws: states ``(chain, draw, *event_shape)``.
        log_prob: U of the draws, ``(chain, draw)``.
        acceptance: mean acceptance probability of the steps since the last draw, ``(chain, draw)``.
        evaluations: evaluations of the target per chain from the first step to each draw, ``(draw,)``.
    """

    draws: Array
    log_prob: Array
    acceptance: Array
    evaluations: NDArray[np.int64]

    def groups(self) -> dict[str, dict[str, Array]]:
        """Draws and statistics by ArviZ's groups and variables, each ``(chain, draw, ...)``.

        This is the argument of ``arviz.from_dict`` (ArviZ 1) and ``arviz_base.from_dict``:
        ``posterior`` with ``theta``; ``sample_stats`` with ``lp`` (U) and ``acceptance_rate``, as ArviZ calls
        them, and ``evaluations`` (of the target so far).
        """
        evaluations = np.broadcast_to(self.evaluations, self.log_prob.shape)
        stats = {"lp": self.log_prob, "acceptance_rate": self.acceptance, "evaluations": evaluations}
        return {"posterior": {"theta": self.draws}, "sample_stats": stats}

    def to_datatree(self) -> Any:
        """The same as an ``xarray.DataTree``, which the functions of ArviZ and arviz-stats accept.

        Raises:
            ModuleNotFoundError: without arviz-base, which ``pip install rungwise[arviz]`` installs.
        """
        from arviz_base import from_dict

        return from_dict(self.groups())

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
