"""The factor in PT-DLP v2, Eq. 7: half the variance of an exponent with four noisy energies (I, row 28)."""

from __future__ import annotations

import torch
from torch import Tensor

from runner.tools.audit.finding import Figure, at_least, bound, finding, near
from samplers.kernel import evaluate
from samplers.tempering.swaps.swap_rules import CorrectedRule
from targets.synthetic.minibatch import MinibatchLogistic

GAP = 0.4
"""beta_delta; the noise of the exponent then has a variance near 1.4."""

DRAWS = 100_000
BEFORE, AFTER = (60, 7), (62, 23)
"""Numbers of the states of the cold and the hot replica before and after their local moves."""


def exponents(seed: int = 0) -> tuple[Tensor, Tensor, float]:
    """Noise of the exponent of v2's Eq. 5, ``(draws,)``; beta_delta^2 sigma^2; and what the suite subtracts.

    The exponent is beta_delta [U(x_2) + U(y_2) - U(x_1) - U(y_1)], every energy from its own minibatch, and
    sigma^2 the mean variance of the four estimates.
    """
    target, rule = MinibatchLogistic(), CorrectedRule()
    states = target.space.states()
    before, after = (
        evaluate(target, states[list(pair)].unsqueeze(1).expand(2, DRAWS, -1), gradient=False)
        for pair in (BEFORE, AFTER)
    )
    generator = torch.Generator().manual_seed(seed)
    noisy = rule.energies(target, before, after, torch.tensor([1.0, 1.0 - GAP]), generator)
    assert noisy.variance is not None
    exact = before.log_prob + after.log_prob
    noise = GAP * ((noisy.energy - exact)[1] - (noisy.energy - exact)[0])
    total = noisy.variance.sum(0)[0]
    return noise, GAP**2 * total / 4, float(0.5 * GAP**2 * total)


@finding(
    "noise-factor",
    "Eq. 7 subtracts half of what four noisy energies need",
    where="PT-DLP v2 Eq. 7",
    source="settings I.28",
    method="100,000 draws of four noisy energies, whose variance is known exactly",
    note="On targets/synthetic/minibatch.py; the rule stays heuristic because of the min.",
)
def factor() -> list[Figure]:
    """What must be subtracted for E exp(exponent) to be right, and what is left when it is not."""
    noise, unit, subtracted = exponents()
    mean = noise.exp().mean()
    error = float(noise.exp().std() / DRAWS**0.5 / mean)
    units, spread = float(unit), float(noise.var() / 2 / unit)
    corrected, printed = (float(mean * (-factor * unit).exp()) for factor in (2, 1))
    return [
        Figure("Var(exponent) / 2, in units of beta_delta^2 sigma^2", near(2.0, 0.05), spread),
        Figure("log E exp(noise), same units", near(2.0, 0.1), float(mean.log()) / units, error / units),
        Figure("subtracted by swap.rule=corrected, same units", near(2.0, 1e-9), subtracted / units),
        bound("E exp with 2: corrected / exact", near(1.0, 0.05), corrected, error),
        bound("E exp with 1, as printed: printed / exact", at_least(1.3), printed, error),
    ]
