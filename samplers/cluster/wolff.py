"""Wolff's algorithm (1989): one cluster a step, grown around a random site."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from samplers.cluster.cluster_kernel import Choice, ClusterKernel, Clusters, drawn_site, other_level
from targets.randomness import Generator, uniform
from targets.spaces import Discrete


class Wolff(ClusterKernel):
    """Exchanges two levels in the cluster of a random site: its own and a random other one; exact.

    Without a field every exchange is accepted; with one it is accepted by Metropolis' rule on the cluster's
    field. Couplings may have any sign and differ, as in spin glasses, where clusters are large and little is
    gained. All bonds are drawn and all clusters found, so that chains take one batched step; small clusters
    thus cost as much as a step of Swendsen-Wang.

    Spaces: models with interactions in pairs.
    Cost: one evaluation.
    Source: Wolff (1989); Wang, Swendsen and Kotecky (1989).
    """

    def _choices(self, space: Discrete, levels: Tensor) -> Iterator[Choice]:
        for index in range(space.d):
            site = torch.full_like(levels[..., :1], index)
            here = levels.gather(-1, site)
            for shift in range(1, space.levels):
                yield Choice(site, (here, (here + shift) % space.levels))

    def _choose(self, space: Discrete, levels: Tensor, draws: Tensor) -> Choice:
        site = drawn_site(space.d, draws)
        here = levels.gather(-1, site)
        return Choice(site, (here, other_level(here, space, draws)))

    def _moved(self, clusters: Clusters, generator: Generator) -> tuple[Tensor, Tensor]:
        inside, acceptance = _proposed(clusters)
        moves = uniform(generator, acceptance.shape, like=acceptance) < acceptance
        return torch.where(inside & moves.unsqueeze(-1), clusters.swapped, clusters.levels), acceptance

    def _probability(self, clusters: Clusters, levels: Tensor) -> Tensor:
        inside, acceptance = _proposed(clusters)
        moved = (torch.where(inside, clusters.swapped, clusters.levels) == levels).all(-1)
        stayed = (clusters.levels == levels).all(-1)
        return moved * acceptance + stayed * (1.0 - acceptance)


def _proposed(clusters: Clusters) -> tuple[Tensor, Tensor]:
    """Which sites are of the cluster, and the acceptance of their exchange."""
    inside = clusters.label == clusters.label.gather(-1, clusters.site)
    # A site outside may have no density at the other level.
    gain = torch.where(inside, clusters.gain(clusters.swapped), 0.0).sum(-1)
    return inside, gain.clamp(max=0.0).exp()
