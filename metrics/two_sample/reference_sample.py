"""A reference sample of a target, and the squared MMD of other draws to it."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from metrics.metric import Context, UnsupportedMetric
from metrics.two_sample.hamming_kernel import COLUMNS, HammingKernel, PackedDraws
from metrics.two_sample.mmd_statistics import (
    centred_second_moment,
    detection_constant,
    u_statistic_given,
    v_statistic,
)
from targets.spaces import Binary

MOST_GROUPS, MOST_CENTRED = 200, 1000


class ReferenceSample:
    """Reference draws on ``{0, 1}^d``, with the sums over them that are computed once.

    Args:
        reference: draws ``(R, d)`` from the target.
        references: number of draws, from the first, that the V-statistic uses; 500 in the papers' code.
        chains: number of independent chains that the draws are from: row r is from chain r % chains. By
            default all draws are independent.

    Raises:
        ValueError: if there are fewer than 2 draws or chains, or R is not a multiple of `chains`.
    """

    def __init__(self, reference: Tensor, references: int, chains: int | None = None) -> None:
        if len(reference) < 2:
            raise ValueError(f"reference must hold at least 2 draws, {len(reference)} were given")
        self.chains = len(reference) if chains is None else chains
        if self.chains < 2 or len(reference) % self.chains:
            raise ValueError(
                f"reference_chains must be at least 2 and divide the number of reference draws "
                f"({len(reference)}), {chains} was given"
            )
        self.kernel = HammingKernel(reference.shape[-1], reference.device)
        self.first = reference[:references].float()
        self._first = PackedDraws(self.first)
        self._rest = [PackedDraws(part) for part in torch.split(reference[references:], COLUMNS) if len(part)]
        self.draws = reference

    @cached_property
    def within_first(self) -> Tensor:
        """Sum of the kernel over all ordered pairs of the draws that the V-statistic uses."""
        return self.kernel.total(self.first, self.first)

    @cached_property
    def kbar(self) -> Tensor:
        """E k(y, y') over independent draws, a scalar: the mean over all pairs of different chains."""
        count = len(self.draws)
        keeps = count // self.chains
        of_chains = self.draws.reshape(keeps, self.chains, -1).transpose(0, 1)
        same = self.kernel.total(of_chains, of_chains).sum()
        return (self.kernel.total(self.draws, self.draws) - same) / (count * (count - keeps))

    @cached_property
    def second_moment(self) -> Tensor:
        """`metrics.two_sample.mmd_statistics.centred_second_moment`, from at most 1,000 independent draws."""
        return centred_second_moment(self._gram())

    @cached_property
    def detection_constant(self) -> float:
        """`metrics.two_sample.mmd_statistics.detection_constant`, from at most 1,000 independent draws."""
        return detection_constant(self._gram())

    def _gram(self) -> Tensor:
        some = self.draws[: min(self.chains, MOST_CENTRED)]
        return self.kernel.matrix(some, some)

    def log_mmd(self, draws: Tensor) -> Tensor:
        """ln MMD^2 of `draws` ``(*batch, m, d)``, V-statistic against the first draws, ``(*batch)``."""
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self._first)
        return _log(v_statistic(xx, self.within_first, xy, draws.shape[-2], len(self.first)))

    def log_mmd_and_u(self, draws: Tensor) -> tuple[Tensor, Tensor]:
        """`log_mmd`, and the U-statistic against the whole reference sample, ``(*batch)`` each.

        Draws of one chain are correlated, so pairs of them would bias the U-statistic upwards; they are left
        out of the reference sample's own term (`kbar`). The V-statistic is that of the papers.
        """
        m = draws.shape[-2]
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self._first)
        log_mmd = _log(v_statistic(xx, self.within_first, xy, m, len(self.first)))
        to_all = xy.clone()
        for part in self._rest:
            to_all += self.kernel.total(draws, part)
        return log_mmd, u_statistic_given(xx, self.kbar, to_all, m, len(self.draws))

    def floor(self, held_out: Tensor, m: int) -> Tensor:
        """`log_mmd` of disjoint groups of `m` independent draws from the same distribution, ``(groups,)``.

        The values of an exact sampler with `m` chains: positive MMD^2, since the V-statistic is biased
        upwards. A group consists of successive rows, which are from different chains if there are at least
        `m` of them.

        Raises:
            ValueError: if `held_out` ``(H, d)`` holds fewer than `m` draws.
        """
        groups = min(len(held_out) // m, MOST_GROUPS)
        if groups < 1:
            raise ValueError(f"held_out must hold at least {m} draws, {len(held_out)} were given")
        return self.log_mmd(held_out[: groups * m].reshape(groups, m, -1))


def require_reference(metric: str, context: Context) -> Binary:
    """The target's space; the target must be binary and have the tensors `reference` and `held_out`.

    They may still be empty.

    Raises:
        UnsupportedMetric: if it is not or has not.
    """
    target, space = context.target, context.target.space
    drawn = all(isinstance(getattr(target, name, None), Tensor) for name in ("reference", "held_out"))
    if not drawn or not isinstance(space, Binary):
        raise UnsupportedMetric(
            f"{metric} needs a binary target with reference draws; {type(target).__name__} has none"
        )
    return space


def _log(mmd: Tensor) -> Tensor:
    """ln of MMD^2, clamped above zero: rounding can make it negative where the draws are the reference."""
    return mmd.clamp(min=torch.finfo(mmd.dtype).eps).log()
