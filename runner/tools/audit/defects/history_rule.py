"""The history rule of PT-DLP v2, Eq. 5, beside the one that is reversible (I, row 3 and reading 4)."""

from __future__ import annotations

from metrics.enumeration.tempered_transition import ladder_of, local_matrices, tempering_matrix
from metrics.enumeration.transition_matrix import stationary, total_variation
from runner.tools.audit.finding import Figure, at_least, at_most, bound, finding
from runner.tools.exactness.enumerable_targets import log_quadratic
from samplers import DULA, ParallelTempering, Swaps
from targets.spaces import Binary

LADDER, STEP_SIZE = [1.0, 0.3], 1.0


def imbalance(rule: str) -> tuple[float, float]:
    """Two distances of a round of PT-DULA on eight states from the product of the moves' own distributions.

    Both are for pi_alpha, the stationary distribution of the unadjusted move on each rung: the largest
    violation of detailed balance, max |pi_i P_ij - pi_j P_ji|, and the total variation of the cold replica.
    """
    target = log_quadratic(Binary(3), seed=5, roughness=2.0)
    sampler = ParallelTempering(DULA(STEP_SIZE), LADDER, step_size=STEP_SIZE, swap=Swaps(rule, "sequential"))
    cold, hot = (stationary(matrix) for matrix in local_matrices(target, ladder_of(sampler)))
    matrix = tempering_matrix(sampler, target)
    flow = cold.outer(hot).flatten().unsqueeze(1) * matrix
    own = stationary(matrix).reshape(len(cold), -1).sum(1)
    return float((flow - flow.T).abs().max()), total_variation(own, cold)


@finding(
    "history",
    "The history rule of v2 is not reversible for the moves' own distribution; the exact history rule is",
    where="PT-DLP v2 Eq. 5, Theorem 5.1",
    source="settings I.3, reading 4",
    method="enumeration of the product space",
    note="The notes' log-quadratic target is not stated. Ours has random coefficients, step size 1, betas 1 "
    "and 0.3; the violation is there, its size is another one.",
)
def history_rules() -> list[Figure]:
    exact, printed = imbalance("history_exact"), imbalance("history")
    return [
        Figure("exact history rule: detailed balance", at_most(1e-12), exact[0]),
        bound("exact history rule: TV to pi_alpha", at_most(1e-12), exact[1]),
        bound("v2 Eq. 5: detailed balance", at_least(1e-3), printed[0], stated=0.0028),
        bound("v2 Eq. 5: TV to pi_alpha", at_least(0.01), printed[1], stated=0.097),
    ]
