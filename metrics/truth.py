"""The draws that stand for a target's law, and the distance of other draws from them."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from metrics.hamming_kernel import HammingKernel
from metrics.metric import Context, UnmetNeed
from metrics.two_sample import centred_second_moment, separation, u_statistic, v_statistic
from targets.spaces import Binary

MOST_GROUPS, MOST_CENTRED = 200, 1000


class Truth:
    """A reference set of draws on ``{0, 1}^d`` and what is computed of it once.

    Args:
        reference: draws ``(R, d)`` that stand for the law.
        references: how many of them, from the first, the V-statistic uses; the peers use 500.
    """

    def __init__(self, reference: Tensor, references: int) -> None:
        if len(reference) < 2:
            raise ValueError(f"reference must hold at least 2 draws, {len(reference)} were given")
        self.kernel = HammingKernel(reference.shape[-1], reference.device)
        self.first = reference[:references].float()
        self.rest = reference[references:].float()
        self.draws = reference

    @cached_property
    def within_first(self) -> Tensor:
        """Sum of the kernel over all ordered pairs of the draws that the V-statistic uses."""
        return self.kernel.total(self.first, self.first)

    @cached_property
    def within_all(self) -> Tensor:
        """Sum of the kernel over all ordered pairs of the reference."""
        return self.kernel.total(self.draws, self.draws)

    @cached_property
    def second_moment(self) -> Tensor:
        """E k~^2 of the centred kernel (`metrics.two_sample`), from at most 1,000 draws."""
        return centred_second_moment(self._gram())

    @cached_property
    def separation(self) -> float:
        """n MMD^2 at which n draws tell a law from this one (`metrics.two_sample`), from at most 1,000."""
        return separation(self._gram())

    def _gram(self) -> Tensor:
        some = self.draws[:MOST_CENTRED]
        return self.kernel.matrix(some, some)

    def log_mmd(self, draws: Tensor) -> Tensor:
        """ln MMD^2 of `draws` ``(*batch, m, d)``, V-statistic against the first draws, ``(*batch)``."""
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self.first)
        return _log(v_statistic(xx, self.within_first, xy, draws.shape[-2], len(self.first)))

    def both(self, draws: Tensor) -> tuple[Tensor, Tensor]:
        """`log_mmd`, and the U-statistic against all of the reference, ``(*batch)`` each."""
        m = draws.shape[-2]
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self.first)
        log_mmd = _log(v_statistic(xx, self.within_first, xy, m, len(self.first)))
        to_all = xy + self.kernel.total(draws, self.rest) if len(self.rest) else xy
        return log_mmd, u_statistic(xx, self.within_all, to_all, m, len(self.draws))

    def floor(self, held_out: Tensor, m: int) -> Tensor:
        """`log_mmd` of disjoint groups of `m` independent draws of the same law, ``(groups,)``.

        What a perfect sampler scores with `m` chains, since the V-statistic is biased upwards.

        Raises:
            ValueError: if `held_out` ``(H, d)`` holds fewer than `m` draws.
        """
        groups = min(len(held_out) // m, MOST_GROUPS)
        if groups < 1:
            raise ValueError(f"held_out must hold at least {m} draws, {len(held_out)} were given")
        return self.log_mmd(held_out[: groups * m].reshape(groups, m, -1))


def need_reference(metric: str, context: Context) -> Binary:
    """The target's space, if it is binary and the target has a `reference` and `held_out`, maybe still empty.

    Raises:
        UnmetNeed: otherwise.
    """
    target, space = context.target, context.target.space
    drawn = all(isinstance(getattr(target, name, None), Tensor) for name in ("reference", "held_out"))
    if not drawn or not isinstance(space, Binary):
        raise UnmetNeed(
            f"{metric} needs a binary target with reference draws; {type(target).__name__} has none"
        )
    return space


def _log(mmd: Tensor) -> Tensor:
    """ln, where rounding may leave zero or less for draws that are the reference itself."""
    return mmd.clamp(min=torch.finfo(mmd.dtype).eps).log()
