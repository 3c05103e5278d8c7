"""Convergence of a chain on a small space, from its matrix: spectral gap, mixing and autocorrelation time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

REVERSIBLE = 1e-10
"""Relative tolerance of detailed balance, for the difference between the two flows of a pair of states."""

UNIT = 1e-13
"""Rounding error per state: an eigenvalue closer to one than this times the size counts as one."""

LONGEST = 2**50
"""Number of steps after which the search for the mixing time ends."""


@dataclass(frozen=True, eq=False)
class ChainSpectrum:
    """Spectral quantities of a transition matrix P with stationary distribution pi.

    Attributes:
        gap: minimum of Dirichlet form over variance: 1 - lambda_2 of P if it is reversible, otherwise of its
            additive reversibilisation (P + P*) / 2 (STMH, Definition 1, on the whole space; Fill 1991). 0 if
            the chain is reducible.
        second_modulus: the largest modulus of an eigenvalue of P apart from the eigenvalue 1 of constants;
            its powers are the asymptotic rate of convergence. 1 if the chain is periodic or reducible.
        contraction: the second largest singular value of P on L2(pi): the largest factor by which one step
            contracts a function of mean zero; its square is the second eigenvalue of the multiplicative
            reversibilisation P P*. Equal to `second_modulus` for a reversible chain; otherwise it can be 1.
        reversible: whether P satisfies detailed balance with respect to pi.
        slowest: the eigenfunction of lambda_2 of P (or of its reversibilisation), ``(size,)``, with mean zero
            and variance one under pi.
    """

    gap: float
    second_modulus: float
    contraction: float
    reversible: bool
    slowest: Tensor

    @property
    def inverse_gap(self) -> float:
        """1 / gap, in steps: the kappa of Poincare's inequality; infinite where the gap is 0."""
        return 1.0 / self.gap if self.gap > 0.0 else float("inf")

    @property
    def relaxation_time(self) -> float:
        """Steps in which the slowest mode decays by a factor e: -1 / log(second_modulus)."""
        return _steps(self.second_modulus)

    def mixing_time_bound(self, smallest: float, threshold: float = 0.25) -> float:
        """Upper bound on the steps until the total variation distance from any start is at most `threshold`.

        From 4 TV^2 <= contraction^(2 t) / pi(start) (Fill 1991; for reversible chains Diaconis and Stroock
        1991). A whole number; infinite if the contraction is 1, and 0 if that holds at the start.

        Args:
            smallest: the smallest probability of a state under pi.
        """
        needed = torch.tensor(1.0 / (4.0 * threshold**2 * smallest), dtype=torch.float64)
        distance = float(needed.log() / 2.0)
        if distance <= 0.0:
            return 0.0
        steps = distance * _steps(self.contraction)
        return steps if math.isinf(steps) else float(max(1, math.ceil(steps)))


def chain_spectrum(matrix: Tensor, pi: Tensor) -> ChainSpectrum:
    """The spectrum of a transition matrix ``(size, size)`` with stationary distribution `pi` ``(size,)``.

    Raises:
        ValueError: if `pi` is not stationary to 1e-8 or is zero at a state, or if there is only one state.
    """
    matrix, pi = matrix.double(), pi.double()
    if len(pi) < 2:
        raise ValueError(f"a gap needs at least two states, {len(pi)} were given")
    if not bool((pi > 0).all()):
        raise ValueError("pi must be positive at every state; leave out states that are never visited")
    if not float((pi @ matrix - pi).abs().max()) <= 1e-8:  # a NaN is refused, too
        raise ValueError("pi is not stationary for the given matrix")
    root = pi.sqrt()
    similar = root.unsqueeze(-1) * matrix / root
    flow = pi.unsqueeze(-1) * matrix
    reversible = bool(float((flow - flow.T).abs().max()) <= REVERSIBLE * float(flow.max()))
    # Constants are projected out, so that a remaining eigenvalue 1 belongs to another function.
    constants = torch.outer(root, root)
    centred = similar - constants
    # Here their eigenvalue is moved below all others, since lambda_2 may be negative.
    values, vectors = torch.linalg.eigh(0.5 * (similar + similar.T) - 3.0 * constants)
    rounding = UNIT * len(pi)
    gap = 1.0 - float(values[-1])
    if reversible:
        modulus = contraction = float(values[1:].abs().max())
    else:
        modulus = float(torch.linalg.eigvals(centred).abs().max())
        contraction = float(torch.linalg.svdvals(centred).max())
    return ChainSpectrum(
        gap=gap if gap > rounding else 0.0,
        second_modulus=1.0 if modulus > 1.0 - rounding else modulus,
        contraction=1.0 if contraction > 1.0 - rounding else contraction,
        reversible=reversible,
        slowest=vectors[:, -1] / root,
    )


def restricted_gap(matrix: Tensor, pi: Tensor, kept: Tensor) -> float:
    """The gap restricted to the states `kept` (bool, ``(size,)``): STMH, Definition 1.

    Dirichlet form and variance are both over pairs of states in the subset, with pi not normalised: this is
    the gap of the chain that rejects every step out of the subset, divided by the mass of the subset. A
    chain that is not reversible is replaced by its additive reversibilisation, which has the same
    Dirichlet form.

    Raises:
        ValueError: if fewer than two states are kept.
    """
    mass = pi[kept].sum()
    flow = pi.unsqueeze(-1) * matrix
    inside = (0.5 * (flow + flow.T))[kept][:, kept] / pi[kept].unsqueeze(-1)
    inside = inside + torch.diag(1.0 - inside.sum(-1))
    return chain_spectrum(inside, pi[kept] / mass).gap / float(mass)


def worst_distance(power: Tensor, pi: Tensor) -> float:
    """Largest total variation distance between a row of `power` and `pi`."""
    return float(0.5 * (power - pi).abs().sum(-1).max())


def mixing_time(matrix: Tensor, pi: Tensor, threshold: float = 0.25) -> float:
    """The smallest number of steps t with TV(P^t(x, .), pi) <= `threshold` for every start x.

    The largest distance over x does not increase with t, so t is found by bisection with the powers P^(2^k);
    rows are normalised after every product against the accumulation of rounding errors. Infinite if there is
    no such t up to `LONGEST`, as for a periodic chain.

    Args:
        matrix: P, ``(size, size)``.
        pi: stationary distribution, ``(size,)``.
        threshold: in (0, 1).
    """
    if worst_distance(torch.eye(len(pi), dtype=matrix.dtype), pi) <= threshold:
        return 0.0
    powers = [matrix.double()]
    while worst_distance(powers[-1], pi) > threshold:
        if 2 ** len(powers) > LONGEST:
            return float("inf")
        powers.append(_normalised(powers[-1] @ powers[-1]))
    # The largest t that is still above the threshold, from its highest bit down; the last power is below.
    steps, reached = 0, torch.eye(len(pi), dtype=torch.float64)
    for bit in range(len(powers) - 2, -1, -1):
        further = _normalised(reached @ powers[bit])
        if worst_distance(further, pi) > threshold:
            steps, reached = steps + 2**bit, further
    return float(steps + 1)


def _normalised(matrix: Tensor) -> Tensor:
    return matrix / matrix.sum(-1, keepdim=True)


def autocorrelation_time(matrix: Tensor, pi: Tensor, values: Tensor) -> float:
    """1 + 2 sum over lags t >= 1 of the correlation of f(X_0) and f(X_t), in steps.

    For f of mean zero the sum over lags t >= 0 is <f, (I - P)^-1 f> / var(f); the inverse is applied through
    the fundamental matrix (I - P + 1 pi)^-1 (Kemeny and Snell 1960). The autocorrelation time is at most 2 /
    gap - 1, with equality for the slowest function of a reversible chain.

    Args:
        matrix: P, ``(size, size)``.
        pi: stationary distribution, ``(size,)``.
        values: f at each state, ``(size,)``, finite.

    Returns:
        NaN for a constant function. The chain must be irreducible.
    """
    matrix, pi = matrix.double(), pi.double()
    centred = values.double() - pi @ values.double()
    variance = float(pi @ centred.square())
    if variance <= 1e-24 * float(1.0 + values.double().square().max()):
        return float("nan")
    fundamental = torch.eye(len(pi), dtype=torch.float64) - matrix + pi
    summed = torch.linalg.solve(fundamental, centred)
    return 2.0 * float(pi @ (centred * summed)) / variance - 1.0


def _steps(modulus: float) -> float:
    if modulus >= 1.0:
        return float("inf")
    return 0.0 if modulus <= 0.0 else float(-1.0 / torch.tensor(modulus, dtype=torch.float64).log())
