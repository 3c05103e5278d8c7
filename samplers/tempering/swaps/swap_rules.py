"""Whether two neighbouring replicas swap: the Metropolis rule, and the printed and released ones.

Every rule gives each replica an `energy` e (on the scale of U: larger is likelier), sometimes a `length` n
and a `variance` v, all of which travel with it; a pair of rungs k, k+1 then swaps with probability
rho * min(1, exp(r)),

    r = sign (beta_k - beta_{k+1}) (e_{k+1} - e_k)
        - (1/(2 alpha_k) - 1/(2 alpha_{k+1})) (n_{k+1} - n_k)
        - (beta_k - beta_{k+1})^2 (v_k + v_{k+1}) / 2 .

Only `metropolis` leaves the product of the tempered targets invariant (settings I, rows 1-4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from samplers.kernel import State
from targets.randomness import Generator
from targets.target import Minibatched, Target


@dataclass(frozen=True, slots=True)
class SwapEnergies:
    """What a rule computes of each replica, every tensor of shape ``(K, *batch)``.

    Attributes:
        energy: e above.
        length: n above, or None.
        variance: v above, or None.
    """

    energy: Tensor
    length: Tensor | None = None
    variance: Tensor | None = None

    def at(self, rungs: int | slice) -> SwapEnergies:
        """Those of some `rungs`, or of one without the first axis."""
        both = (self.length, self.variance)
        return SwapEnergies(self.energy[rungs], *(None if each is None else each[rungs] for each in both))

    def chosen(self, mask: Tensor, others: SwapEnergies) -> SwapEnergies:
        """These where `mask` holds, `others` elsewhere."""
        return SwapEnergies(
            torch.where(mask, self.energy, others.energy),
            _chosen(mask, self.length, others.length),
            _chosen(mask, self.variance, others.variance),
        )


def _chosen(mask: Tensor, own: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if own is None or other is None else torch.where(mask, own, other)


@dataclass(frozen=True, slots=True)
class Rungs:
    """A ladder laid along the first of the batch axes: beta and alpha, ``(K, 1, ..)`` each."""

    betas: Tensor
    step_sizes: Tensor | None = None

    def pair(self, k: int) -> Rungs:
        """Rungs k and k + 1 alone."""
        sizes = None if self.step_sizes is None else self.step_sizes[k : k + 2]
        return Rungs(self.betas[k : k + 2], sizes)


class SwapRule:
    """The plain Metropolis rule (PT-DLP v2, Eq. 1): current states only. Exact.

    Attributes:
        exact: whether it leaves the product of the tempered targets invariant.
        sign: +1, or -1 for the sign of v1, which suits exp(-U).
        always: whether every pair swaps, as max{1, .} read literally says.
        remembers: whether energies of the previous round, kept by rung, are added to the current ones.
        needs_step_size: whether it needs the step size of each rung, and unadjusted Langevin moves.
        evaluations: extra target evaluations per replica and round.
    """

    exact: ClassVar[bool] = True
    sign: ClassVar[float] = 1.0
    always: ClassVar[bool] = False
    remembers: ClassVar[bool] = False
    needs_step_size: ClassVar[bool] = False
    evaluations: ClassVar[int] = 0

    def energies(
        self, target: Target, before: State, after: State, betas: Tensor, generator: Generator
    ) -> SwapEnergies:
        """What the rule compares: `before` and `after` are the replicas around the local moves."""
        return SwapEnergies(after.log_prob)

    def check(self, target: Target) -> None:
        """Raises ValueError if the rule cannot be used with this target."""


class HistoryRule(SwapRule):
    """PT-DLP v2, Eq. 5: the energies before and after the local move are added. Not exact."""

    exact = False

    def energies(
        self, target: Target, before: State, after: State, betas: Tensor, generator: Generator
    ) -> SwapEnergies:
        return SwapEnergies(before.log_prob + after.log_prob)


class HistoryExactRule(SwapRule):
    """The history rule that is reversible for unadjusted Langevin moves on a log-quadratic target.

    settings I, reading 4. With x before and y after the local move, a move's flow
    pi_alpha(x) q(y | x) is proportional to exp{beta e - n / (2 alpha)} where e = U(x) + dU(x).(y - x) / 2
    and n = |y - x|^2; the W term of the reading is dU(x).(y - x) + U(x) - U(y). Leaves the product of the
    (biased) distributions pi_alpha invariant, not of the targets. The proposal must have balancing 1/2 and
    norm 2.
    """

    exact = False
    needs_step_size = True

    def energies(
        self, target: Target, before: State, after: State, betas: Tensor, generator: Generator
    ) -> SwapEnergies:
        assert before.grad is not None
        event = tuple(range(before.log_prob.dim(), before.theta.dim()))
        move = after.theta - before.theta
        energy = before.log_prob + 0.5 * (before.grad * move).sum(event)
        return SwapEnergies(energy, length=move.square().sum(event))


class CorrectedRule(SwapRule):
    """PT-DLP v2, Eq. 7, with the right variance: four independent noisy energies enter, not one.

    The printed exponent subtracts beta_delta^2 sigma^2; unbiasing E exp(r) takes half the variance of r,
    which is 2 beta_delta^2 sigma^2 (settings I, row 28). Heuristic all the same, because of the min.
    """

    exact = False
    evaluations = 2

    def energies(
        self, target: Target, before: State, after: State, betas: Tensor, generator: Generator
    ) -> SwapEnergies:
        assert isinstance(target, Minibatched)
        energy = target.noisy_log_prob(before.theta, generator) + target.noisy_log_prob(
            after.theta, generator
        )
        variance = target.noise_variance(before.theta) + target.noise_variance(after.theta)
        return SwapEnergies(energy, variance=variance)

    def check(self, target: Target) -> None:
        if not isinstance(target, Minibatched):
            raise ValueError(
                "swap.rule=corrected needs a target with minibatch estimates (noisy_log_prob, "
                f"noise_variance); {type(target).__name__} has none"
            )


class V1LiteralRule(HistoryRule):
    """PT-DLP v1, Eq. 6 as printed: max{1, .} is at least one, so every pair swaps. Not exact."""

    sign = -1.0
    always = True


class ReleasedRule(SwapRule):
    """The released code (`PTDLP/synthetic_problems/samplers.py:143-149`): v1's sign and stale energies.

    The previous round's energies stay with their rungs while the replicas move on, and each pair
    overwrites those of its rungs during the round. Not exact.
    """

    exact = False
    sign = -1.0
    remembers = True


RULES: dict[str, type[SwapRule]] = {
    "metropolis": SwapRule,
    "history": HistoryRule,
    "history_exact": HistoryExactRule,
    "corrected": CorrectedRule,
    "v1_literal": V1LiteralRule,
    "released": ReleasedRule,
}


@dataclass(frozen=True, slots=True)
class PairFactors:
    """What r above multiplies the differences of a pair by, for each pair ``(K - 1, 1, ..)``.

    Attributes:
        energy, length, variance: sign (beta_k - beta_{k+1}), and so on; None where there are no step sizes.
    """

    energy: Tensor
    length: Tensor | None
    variance: Tensor

    @classmethod
    def of(cls, rule: SwapRule, ladder: Rungs) -> PairFactors:
        """Those of all neighbours on `ladder`."""
        gap = ladder.betas[:-1] - ladder.betas[1:]
        tension = None
        if ladder.step_sizes is not None:
            inverse = ladder.step_sizes.reciprocal()
            tension = 0.5 * (inverse[:-1] - inverse[1:])
        return cls(rule.sign * gap, tension, 0.5 * gap.square())

    def at(self, k: int) -> PairFactors:
        """Those of the pair of rungs k and k + 1."""
        return PairFactors(self.energy[k], None if self.length is None else self.length[k], self.variance[k])


def log_pair_ratio(rule: SwapRule, upper: SwapEnergies, lower: SwapEnergies, factors: PairFactors) -> Tensor:
    """r above, at most 0, for the replicas on the `upper` rung of a pair and those on the `lower` one."""
    ratio = factors.energy * (lower.energy - upper.energy)
    if lower.length is not None and upper.length is not None and factors.length is not None:
        ratio = ratio - factors.length * (lower.length - upper.length)
    if lower.variance is not None and upper.variance is not None:
        ratio = ratio - factors.variance * (lower.variance + upper.variance)
    if rule.always:
        return torch.zeros_like(ratio)
    return ratio.clamp(max=0.0)


def log_swap_ratio(rule: SwapRule, energies: SwapEnergies, ladder: Rungs) -> Tensor:
    """r above, at most 0, for each pair of neighbours on `ladder`, shape ``(K - 1, *batch)``."""
    upper, lower = energies.at(slice(None, -1)), energies.at(slice(1, None))
    return log_pair_ratio(rule, upper, lower, PairFactors.of(rule, ladder))
