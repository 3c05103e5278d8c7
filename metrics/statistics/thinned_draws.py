"""Binary draws at regular steps, one bit per pixel: the images that a sampler generates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.statistics.bits import packed
from samplers.kernel import Info
from targets.spaces import Binary


class ThinnedDraws(Metric):
    """Stores the draws of the steps `after` + `every`, `after` + 2 `every`, ...; has no value.

    Memory grows with the number of draws: 5,000 images of 784 pixels take 490 kB.

    Args:
        every: steps between two stored draws of a chain.
        after: the step from which they are counted, the end of the burn-in.

    Raises:
        UnsupportedMetric: if the target is not binary.
    """

    name = "thinned_draws"
    unit = "bits"
    needs_draws = False

    def __init__(self, context: Context, every: int, after: int = 0) -> None:
        super().__init__(context)
        if not isinstance(context.target.space, Binary):
            raise UnsupportedMetric("thinned_draws keeps zeros and ones, the target has other states")
        self.every, self.after = every, after
        self.pixels = context.target.space.d
        self._kept: list[Tensor] = []

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if (step - self.after) % self.every == 0:
            self._kept.append(packed(theta))

    @property
    def kept(self) -> Tensor:
        """The draws, packed as by `numpy.packbits`: uint8 ``(draws, seeds, chains, ceil(pixels / 8))``."""
        if self._kept:
            return torch.stack(self._kept)
        shape = (0, self.context.seeds, self.context.chains, -(-self.pixels // 8))
        return torch.zeros(shape, dtype=torch.uint8, device=self.context.device)

    def result(self) -> dict[str, Tensor]:
        return {}

    def merge(self, other: Self) -> None:
        self._kept += other._kept

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if the saved draws have a different shape.
        """
        saved = state["kept"]
        if tuple(saved.shape[1:]) != tuple(self.kept.shape[1:]):
            raise ValueError(
                f"the kept draws must have the shape {tuple(self.kept.shape[1:])}, "
                f"{tuple(saved.shape[1:])} was saved"
            )
        self._kept = list(saved.to(self.context.device))
