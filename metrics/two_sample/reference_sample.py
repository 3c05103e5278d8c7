"""The draws that stand for a target's law, and the distance of other draws from them."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from metrics.metric import Context, UnmetNeed
from metrics.two_sample.hamming_kernel import COLUMNS, HammingKernel
from metrics.two_sample.mmd_statistics import (
    centred_second_moment,
    separation,
    u_statistic_given,
    v_statistic,
)
from metrics.two_sample.packed_draws import PackedDraws
from targets.spaces import Binary

MOST_GROUPS, MOST_CENTRED = 200, 1000


class Truth:
    """A reference set of draws on ``{0, 1}^d`` and what is computed of it once.

    Args:
        reference: draws ``(R, d)`` that stand for the law.
        references: how many of them, from the first, the V-statistic uses; the peers use 500.
        chains: number of independent chains that the draws are snapshots of, all chains at one step and then
            all at another: row r is of chain r % chains. By default each draw has a chain of its own.

    Raises:
        ValueError: if there are fewer than 2 draws or chains, or not equally many draws of each chain.
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
        """E k~^2 of the centred kernel (`mmd_statistics`), from at most 1,000 independent draws."""
        return centred_second_moment(self._gram())

    @cached_property
    def separation(self) -> float:
        """n MMD^2 at which n draws tell another sample apart (`mmd_statistics`), from at most 1,000."""
        return separation(self._gram())

    def _gram(self) -> Tensor:
        some = self.draws[: min(self.chains, MOST_CENTRED)]
        return self.kernel.matrix(some, some)

    def log_mmd(self, draws: Tensor) -> Tensor:
        """ln MMD^2 of `draws` ``(*batch, m, d)``, V-statistic against the first draws, ``(*batch)``."""
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self._first)
        return _log(v_statistic(xx, self.within_first, xy, draws.shape[-2], len(self.first)))

    def both(self, draws: Tensor) -> tuple[Tensor, Tensor]:
        """`log_mmd`, and the U-statistic against all of the reference, ``(*batch)`` each.

        Snapshots of one chain resemble each other, so pairs of them would bias the U-statistic upwards; they
        are left out of the reference's own term (`kbar`). The V-statistic stays that of the papers.
        """
        m = draws.shape[-2]
        xx, xy = self.kernel.total(draws, draws), self.kernel.total(draws, self._first)
        log_mmd = _log(v_statistic(xx, self.within_first, xy, m, len(self.first)))
        to_all = xy.clone()
        for part in self._rest:
            to_all += self.kernel.total(draws, part)
        return log_mmd, u_statistic_given(xx, self.kbar, to_all, m, len(self.draws))

    def floor(self, held_out: Tensor, m: int) -> Tensor:
        """`log_mmd` of disjoint groups of `m` independent draws of the same law, ``(groups,)``.

        What a perfect sampler scores with `m` chains, since the V-statistic is biased upwards. A group is of
        successive rows, which are of different chains as long as there are `m`.

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
