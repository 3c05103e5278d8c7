"""A step size for a given acceptance, from one batched pilot.

Many step sizes are tried at once: they are a leading batch axis. The wanted one is read off where the
mean acceptance first falls through the target value, so that a global step size at which acceptance
happens to rise again is never taken for a local one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from samplers.kernel import Kernel
from targets.randomness import Generator
from targets.spaces import Discrete, Ordinal
from targets.target import Target

OPTIMAL_ACCEPTANCE = 0.574
"""Roberts and Rosenthal (1998) for Langevin proposals; DMALA and AB are tuned to it in the papers."""


@runtime_checkable
class Steppable(Protocol):
    """A kernel that is led by one step size."""

    def with_step_size(self, step_size: Tensor) -> Kernel:
        """The kernel at this step size, a tensor that broadcasts over the batch axes."""
        ...


@runtime_checkable
class Unrejecting(Protocol):
    """A steppable kernel that rejects nothing, and so is tuned by the acceptance of its adjusted twin."""

    adjusted: Steppable


@dataclass(frozen=True)
class Pilot:
    """Size of the pilot: `candidates` step sizes, `chains` of each, `steps` of which half are measured."""

    candidates: int = 25
    chains: int = 32
    steps: int = 400


def check_finite(*values: Tensor) -> None:
    """Refuses what a pilot saw of a target that is not finite everywhere.

    Raises:
        ValueError: if there is a NaN or an infinity.
    """
    if not all(bool(value.isfinite().all()) for value in values):
        raise ValueError("the target gave a log density that is NaN or infinite in the tuning pilot")


def step_size_range(target: Target) -> tuple[float, float]:
    """The step sizes worth trying: from nearly frozen to nearly uniform.

    In squared state units; on binary and categorical spaces a level is one unit away.
    """
    space = target.space
    if isinstance(space, Ordinal):
        return 0.05, float(space.levels - 1) ** 2
    if isinstance(space, Discrete):
        return 0.02, 20.0
    return 1e-4, 1e2


def first_crossing(step_sizes: Tensor, acceptance: Tensor, wanted: float) -> Tensor:
    """Where `acceptance` ``(candidates, *rungs)`` first falls through `wanted`, log-linear between.

    Where it never does, the last step size; where it starts below, the first. Shape ``(*rungs)``, float64.
    """
    logs = step_sizes.double().log()
    below = acceptance < wanted
    first = torch.where(below.any(0), below.to(torch.int64).argmax(0), len(logs) - 1)
    previous = (first - 1).clamp(min=0)
    high = acceptance.gather(0, previous.unsqueeze(0)).squeeze(0).double()
    low = acceptance.gather(0, first.unsqueeze(0)).squeeze(0).double()
    gap = (high - low).clamp(min=1e-12)
    share = torch.where(below.any(0), ((high - wanted) / gap).clamp(0.0, 1.0), torch.ones_like(gap))
    return (logs[previous] + share * (logs[first] - logs[previous])).exp()


def tune_step_size(
    kernel: Steppable,
    target: Target,
    betas: Tensor,
    generator: Generator,
    *,
    wanted: float = OPTIMAL_ACCEPTANCE,
    pilot: Pilot | None = None,
) -> tuple[Tensor, Tensor, int]:
    """Step sizes ``(K,)`` at which `kernel` accepts with probability `wanted` at each of `betas` ``(K,)``.

    Returns:
        The step sizes (float64), the acceptance interpolated there is `wanted` where it is reachable; the
        mean acceptance of each candidate ``(candidates, K)``; and the evaluations spent per pilot chain.

    Raises:
        ValueError: if the target's log density is not finite where the pilot goes.
    """
    kernel = kernel.adjusted if isinstance(kernel, Unrejecting) else kernel
    pilot = pilot or Pilot()
    like = target.like()
    low, high = step_size_range(target)
    candidates = torch.logspace(
        torch.tensor(low).log10().item(), torch.tensor(high).log10().item(), pilot.candidates
    ).to(like)
    tried = kernel.with_step_size(candidates.reshape(-1, 1, 1, 1))
    ladder = betas.to(like).reshape(1, -1, 1, 1)
    theta = target.initial((pilot.candidates, len(betas), 1, pilot.chains), generator)
    state = tried.init(target, theta, ladder)
    total = torch.zeros((pilot.candidates, len(betas)), dtype=torch.float64, device=theta.device)
    evaluations = 0
    for step in range(pilot.steps):
        state, info = tried.step(target, state, ladder, generator)
        evaluations += info.evaluations
        if step >= pilot.steps // 2:
            total += info.acceptance.mean((-2, -1), dtype=torch.float64)
    acceptance = total / (pilot.steps - pilot.steps // 2)
    check_finite(state.log_prob, acceptance)
    return first_crossing(candidates, acceptance, wanted), acceptance, evaluations


def tuned_alone(kernel: Steppable, target: Target, generator: Generator, acceptance: float) -> dict[str, Any]:
    """What `Kernel.tune` gives for a kernel whose step size alone is open, for `acceptance` at beta = 1."""
    step_size, found, evaluations = tune_step_size(
        kernel, target, torch.ones(1), generator, wanted=acceptance
    )
    return {
        "step_size": step_size.item(),
        "evaluations": evaluations,
        "report": {"wanted_acceptance": acceptance, "lowest_acceptance": found.min().item()},
    }
