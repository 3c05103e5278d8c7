"""The 12-state bimodal chain on which swap rules and acceptances are compared.

Our notes (settings I) give total variations on "a 12-point bimodal chain, K = 2, beta = (1, .3)",
but neither its probabilities nor its step size. The mixture below was found by a search over two bumps on
0 .. 11 with the discrete Langevin proposal inside, for agreement with the notes' eight figures; all come out
within 0.006. Six numbers were free, so the agreement says that the notes are consistent, not more.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.spaces import Ordinal
from targets.synthetic.tabulated import Tabulated

WEIGHTS, CENTRES, DEVIATIONS = (0.75, 0.25), (3.0, 9.0), (0.9, 0.7)
STEP_SIZE = 9.0
"""alpha, in squared units of the chain; the same on both rungs."""

BETAS = (1.0, 0.3)


def bimodal_chain() -> Tabulated:
    """U(x) = log{0.75 N(x; 3, 0.9^2) + 0.25 N(x; 9, 0.7^2)} on {0, .., 11}, with its derivative."""
    space = Ordinal(1, 12)
    theta = space.states().requires_grad_(True)
    with torch.enable_grad():
        log_prob = _log_mixture(theta.squeeze(-1))
        (grad,) = torch.autograd.grad(log_prob.sum(), theta)
    return Tabulated(space, log_prob, grad)


def _log_mixture(x: Tensor) -> Tensor:
    bumps = [
        math.log(weight / sd) - 0.5 * ((x - centre) / sd).square()
        for weight, centre, sd in zip(WEIGHTS, CENTRES, DEVIATIONS, strict=True)
    ]
    return torch.stack(bumps).logsumexp(0)
