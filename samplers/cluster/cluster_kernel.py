"""What cluster kernels share: bonds between coordinates, and the clusters that they make (Edwards-Sokal)."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from samplers.cluster.components import components
from samplers.inverse_temperatures import tempered_log_prob
from samplers.kernel import Info, Kernel, NotEnumerableError, State, evaluate
from samplers.proposals.draws.places import whole_numbers
from targets.randomness import Generator, uniform
from targets.spaces import Discrete, level_space
from targets.target import PairwiseInteractions, PairwiseTerms, Target

MOST_EDGES = 16
"""Of targets whose transitions are listed, bond by bond."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen uniformly before the bonds: a site and two different levels, ``(*batch, 1)``, int64."""

    site: Tensor
    levels: tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of a batch of states.

    Attributes:
        levels: of each site, ``(*batch, d)``, int64.
        swapped: the levels with the two of the choice exchanged, likewise.
        label: the smallest site of each site's cluster, likewise.
        site: that of the choice, ``(*batch, 1)``.
        field: beta f_i of each level, ``(*batch, d, levels)``.
    """

    levels: Tensor
    swapped: Tensor
    label: Tensor
    site: Tensor
    field: Tensor

    def total(self, values: Tensor) -> Tensor:
        """Sums over clusters of `values` ``(*batch, d)``, at the smallest site of each; 0 elsewhere."""
        return torch.zeros_like(values).scatter_add(-1, self.label, values)

    def gain(self, levels: Tensor) -> Tensor:
        """beta f of `levels` ``(*batch, d)`` less that of the present ones, for each site, likewise."""
        new, old = (self.field.gather(-1, each.unsqueeze(-1)) for each in (levels, self.levels))
        return (new - old).squeeze(-1)


class ClusterKernel(Kernel):
    """Bonds of U = sum of K_e 1{ends of e agree} + sum of f_i, then new levels for clusters; exact.

    An edge whose ends agree, with K > 0, or differ, with K < 0, becomes a bond with probability
    1 - exp(-beta |K|) (Swendsen and Wang 1987). Clusters are what bonds connect. Where two levels are
    exchanged, sites that have neither have no bonds (Wang, Swendsen and Kotecky 1989), which holds for
    couplings of any sign. The field decides about whole clusters.
    """

    exact = True

    def check(self, target: Target) -> None:
        level_space(type(self).__name__, target.space)
        if not isinstance(target, PairwiseInteractions):
            raise ValueError(
                f"{type(self).__name__} needs a target whose coordinates interact in pairs, such as ising or "
                f"potts, {type(target).__name__} was given"
            )

    @abstractmethod
    def _choices(self, space: Discrete, levels: Tensor) -> Iterator[Choice]:
        """All choices, equally probable, for states with `levels` ``(*batch, d)``."""

    @abstractmethod
    def _choose(self, space: Discrete, levels: Tensor, draws: Tensor) -> Choice:
        """A choice for each chain by three uniform numbers ``(*batch, 3)``."""

    @abstractmethod
    def _moved(self, clusters: Clusters, generator: Generator) -> tuple[Tensor, Tensor]:
        """New levels ``(*batch, d)`` and the probability ``(*batch)`` of what may be rejected."""

    @abstractmethod
    def _probability(self, clusters: Clusters, levels: Tensor) -> Tensor:
        """Of new `levels` ``(*batch, d)`` given the clusters, ``(*batch)``."""

    def _exchanges(self, space: Discrete) -> bool:
        """Whether two levels are exchanged."""
        return True

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space, terms = _parts(target)
        levels, batch = space.to_levels(state.theta), state.log_prob.shape
        choice = self._choose(space, levels, uniform(generator, batch, (3,), like=state.log_prob))
        chances = self._bond_chances(space, terms, levels, choice, _like(beta, state))
        active = uniform(generator, batch, chances.shape[-1:], like=chances) < chances
        clusters = _clusters(terms, levels, choice, active, _like(beta, state))
        moved, acceptance = self._moved(clusters, generator)
        after = evaluate(target, space.from_levels(moved, state.theta.dtype), gradient=False)
        return after, Info(acceptance, space.hamming(state.theta, after.theta), evaluations=1)

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, shape ``(*batch)``: the sum over choices and bonds.

        Raises:
            NotEnumerableError: if there are more than `MOST_EDGES` edges.
        """
        space, terms = _parts(target)
        levels, wanted = space.to_levels(source.theta), space.to_levels(destination)
        if len(terms.edges) > MOST_EDGES:
            raise NotEnumerableError(f"{len(terms.edges)} edges are too many to list their bonds")
        choices = list(self._choices(space, levels))
        total = torch.zeros_like(source.log_prob)
        for choice in choices:
            chances = self._bond_chances(space, terms, levels, choice, _like(beta, source))
            for listed in itertools.product((False, True), repeat=len(terms.edges)):
                active = torch.tensor(listed, dtype=torch.bool, device=chances.device).expand(chances.shape)
                share = torch.where(active, chances, 1.0 - chances).prod(-1)
                if not bool(share.any()):
                    continue
                clusters = _clusters(terms, levels, choice, active, _like(beta, source))
                total += share * self._probability(clusters, wanted)
        return (total / len(choices)).log()

    def _bond_chances(
        self, space: Discrete, terms: PairwiseTerms, levels: Tensor, choice: Choice, beta: Tensor
    ) -> Tensor:
        """Probability that each edge becomes a bond, ``(*batch, E)``."""
        ends = (end.expand(*levels.shape[:-1], -1) for end in terms.edges.unbind(-1))
        one, other = (levels.gather(-1, end) for end in ends)
        # The sign of K says which edges are satisfied.
        satisfied = torch.where(one == other, terms.couplings, -terms.couplings).clamp_(min=0.0)
        if self._exchanges(space):
            a, b = choice.levels
            satisfied *= ((one == a) | (one == b)) & ((other == a) | (other == b))
        return 1.0 - (-beta * satisfied).exp()


def _parts(target: Target) -> tuple[Discrete, PairwiseTerms]:
    assert isinstance(target, PairwiseInteractions)
    return level_space("a cluster kernel", target.space), target.pairwise_terms()


def _like(beta: Tensor, state: State) -> Tensor:
    return torch.as_tensor(beta).to(state.log_prob).unsqueeze(-1)


def _clusters(terms: PairwiseTerms, levels: Tensor, choice: Choice, active: Tensor, beta: Tensor) -> Clusters:
    a, b = choice.levels
    swapped = torch.where(levels == a, b, torch.where(levels == b, a, levels))
    label = components(terms.edges, active, levels.shape[-1])
    field = tempered_log_prob(terms.field, beta.unsqueeze(-1))
    return Clusters(levels, swapped, label, choice.site, field.expand(*levels.shape, -1))


def drawn_site(d: int, draws: Tensor) -> Tensor:
    """A uniform site ``(*batch, 1)`` by the first of `draws` ``(*batch, 3)``."""
    return whole_numbers(draws[..., :1], d)


def other_level(level: Tensor, space: Discrete, draws: Tensor) -> Tensor:
    """A uniform level other than `level` ``(*batch, 1)``, by the last of `draws` ``(*batch, 3)``."""
    return (level + 1 + whole_numbers(draws[..., 2:], space.levels - 1)) % space.levels
