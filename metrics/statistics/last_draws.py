"""The draws of the last step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from torch import Tensor

from metrics.metric import Context, Statistic
from samplers.kernel import Info


class LastDraws(Statistic):
    """The current states of the chains.

    Attributes:
        theta: the last draws, ``(seeds, chains, *event_shape)``; None before the first step.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.theta: Tensor | None = None

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.theta = theta

    def merge(self, other: Self) -> None:
        self.theta = self.theta if other.theta is None else other.theta

    def state_dict(self) -> dict[str, Any]:
        return {} if self.theta is None else {"theta": self.theta.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        saved = state.get("theta")
        self.theta = None if saved is None else saved.to(self.context.device)
