"""The baseline of the bench on deep energy-based models: an iteration of learning as a script would write it.

The released code asks the model four times in a step of DMALA: for the gradient at the state and at the
proposal, and for both values again for the acceptance; PT is a loop over replicas, with the values once more
for the swaps. Data and samples go through the model one after the other. Samplers and gradient are correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from runner.tools.bench.baselines.plain_sampler import plain_round, propose_bit


class PlainBlock(nn.Module):
    """A residual block as the released `mlp.py` has it."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, stride, 1)
        self.second = nn.Conv2d(width, width, 3, 1, 1)
        self.shortcut = nn.Conv2d(width, width, 1, stride) if stride != 1 else nn.Identity()

    def forward(self, maps: Tensor) -> Tensor:
        inner = self.first(maps)
        inner = self.second(inner * torch.sigmoid(inner)) + self.shortcut(maps)
        active: Tensor = inner * torch.sigmoid(inner)
        return active


class PlainNetwork(nn.Module):
    """U of a deep model as the released `mlp.py` and `pcd_ebm_ema.py` have it; images ``(n, 784)``."""

    def __init__(self, width: int, blocks: int, mean: Tensor) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, 1, 1)
        self.blocks = nn.Sequential(*(PlainBlock(width, 2 if place < 2 else 1) for place in range(blocks)))
        self.last = nn.Linear(width, 1)
        self.mean = nn.Parameter(mean, requires_grad=False)

    def forward(self, theta: Tensor) -> Tensor:
        maps = self.blocks(self.first(theta.view(len(theta), 1, 28, 28)))
        base = torch.distributions.Bernoulli(self.mean, validate_args=False)
        energy: Tensor = base.log_prob(theta).sum(-1)  # type: ignore[no-untyped-call]
        score: Tensor = self.last(maps.flatten(2).mean(-1)).squeeze(-1)
        return score + energy


def plain_iteration(
    network: PlainNetwork, data: Tensor, steps: int, betas: Sequence[float], step_sizes: Sequence[float]
) -> Callable[[], None]:
    """A call that learns from `data` once, with `steps` steps of a replica for each inverse temperature."""
    adam = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], lr=1e-4)
    replicas = [torch.bernoulli(network.mean.expand(len(data), -1)) for _ in betas]

    def iterate() -> None:
        for _ in range(steps):
            plain_round(network, replicas, betas, step_sizes, propose_bit)
        loss = network(replicas[0]).mean() - network(data).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    return iterate
