"""Paths of moves of one coordinate each, weighted at one end of the path (Sun et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.proposals.balancing_functions import BalancingFunction
from samplers.proposals.draws.distinct_places import ColumnWeights, DistinctPlaces, log_others, rows_of
from samplers.proposals.draws.places import draw_level, draw_place
from samplers.proposals.local_moves import log_ratios, present, relative_weights
from targets.randomness import Generator
from targets.spaces import Binary, Discrete


@dataclass(frozen=True, slots=True)
class Path:
    """Moves in the order in which they are made, of chains whose paths may have different lengths.

    Attributes:
        sites: which coordinate moves, ``(*batch, longest)``, int64.
        before, after: its levels, likewise.
        made: whether the move is part of the chain's path, likewise, bool.
        drawn: how distinct coordinates were drawn, and `made` in the order of the draw; None for a path that
            was not.
    """

    sites: Tensor
    before: Tensor
    after: Tensor
    made: Tensor
    drawn: tuple[DistinctPlaces, Tensor] | None = None

    def reversed(self) -> Path:
        """The way back: the last move first, each undone."""
        sites, before, after, made = (
            part.flip(-1) for part in (self.sites, self.after, self.before, self.made)
        )
        return Path(sites, before, after, made, self.drawn)


class MoveWeights:
    """The weights g(t) of all moves of one coordinate from a state, t the ratio of tempered densities.

    Args:
        space, state, beta: the batch of states.
        function: g.
        replacement: whether a coordinate may move again; if not, those of a path are distinct. All moves of
            a path are weighted at this state, also those that do not start at it.
        totals: of the columns in which distinct coordinates are drawn, where they are known already.
    """

    def __init__(
        self,
        space: Discrete,
        state: State,
        beta: Tensor,
        function: BalancingFunction,
        replacement: bool,
        totals: Tensor | None = None,
    ) -> None:
        self.space, self.theta, self.replacement, self._totals = space, state.theta, replacement, totals
        scores = function(log_ratios(space, state, beta))
        self.levels: Tensor | None = None
        self._log_total: Tensor | None = None
        self._columns: ColumnWeights | None = None
        self.sites = scores
        if not isinstance(space, Binary):
            self.levels = scores
            self.sites = scores.masked_fill(present(space, state.theta), -torch.inf).logsumexp(-1)

    def path(self, lengths: Tensor, longest: int, generator: Generator) -> tuple[Path, Tensor]:
        """Paths of `lengths` ``(*batch, 1)`` moves, `longest` at most; their ends ``(*batch, *event)``."""
        drawn = None if self.replacement else DistinctPlaces(self.columns(longest), longest, generator)
        sites = self._any(longest, generator) if drawn is None else drawn.places
        made = torch.arange(longest, device=sites.device) < lengths
        levels = self.theta.clone() if isinstance(self.space, Binary) else self.space.to_levels(self.theta)
        moves = []
        # Distinct coordinates move all at once; one that moves again starts from where it was left.
        count = longest if self.replacement else 1
        for site, real in zip(sites.chunk(count, -1), made.chunk(count, -1), strict=True):
            here = levels.gather(-1, site)
            there = torch.where(real, self._other(site, here.long(), generator), here)
            levels.scatter_(-1, site, there)
            moves.append((here.long(), there.long()))
        before, after = (torch.cat(part, -1) for part in zip(*moves, strict=True))
        end = levels if isinstance(self.space, Binary) else self.space.from_levels(levels, self.theta.dtype)
        return Path(sites, before, after, made, None if drawn is None else (drawn, made)), end

    def columns(self, longest: int) -> ColumnWeights:
        """The weights of the coordinates in the columns in which `longest` distinct ones are drawn."""
        if self._columns is None:
            rows = rows_of(self.sites.shape[-1], longest)
            self._columns = ColumnWeights(self.sites, rows, self._totals)
        return self._columns

    def log_prob(self, path: Path) -> Tensor:
        """log probability of `path` from here among all of its length, ``(*batch)``."""
        chosen = self.sites.gather(-1, path.sites)
        if self.replacement:
            left = self.sites.logsumexp(-1, keepdim=True) if self._log_total is None else self._log_total
        else:
            # What is left before each move: coordinates that are not of the path, and those still to come.
            ahead = chosen.masked_fill(~path.made, -torch.inf)
            if path.drawn is None:
                others = log_others(self.sites, path.sites, path.made)
            else:
                drawn, made = path.drawn
                others = drawn.log_others(self.columns(made.shape[-1]), made)
            ahead = torch.cat([others, ahead.flip(-1)], -1)
            left = ahead.logcumsumexp(-1)[..., 1:].flip(-1)
        terms = chosen - left
        if self.levels is not None:
            rows = self._rows(path.sites)
            others = rows.scatter(-1, path.before.unsqueeze(-1), -torch.inf)
            terms = terms + rows.gather(-1, path.after.unsqueeze(-1)).squeeze(-1) - others.logsumexp(-1)
        return terms.masked_fill(~path.made, 0.0).sum(-1)

    def _any(self, number: int, generator: Generator) -> Tensor:
        """Independent coordinates, in proportion to their weights."""
        weights, self._log_total = relative_weights(self.sites)
        return draw_place(weights, generator, number)

    def _rows(self, sites: Tensor) -> Tensor:
        """log weights of the levels of `sites` ``(*batch, n)``: ``(*batch, n, levels)``."""
        assert self.levels is not None
        return self.levels.gather(-2, sites.unsqueeze(-1).expand(*sites.shape, self.space.levels))

    def _other(self, sites: Tensor, before: Tensor, generator: Generator) -> Tensor:
        """Another level for each of `sites` than that `before`, in proportion to the weights."""
        if self.levels is None:
            return 1 - before
        rows = self._rows(sites).scatter(-1, before.unsqueeze(-1), -torch.inf)
        return draw_level((rows - rows.amax(-1, keepdim=True)).exp_(), generator)[0]
