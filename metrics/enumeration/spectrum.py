"""Spectral gaps of transition matrices: how fast a chain forgets, exactly, on a space that can be listed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

REVERSIBLE = 1e-10
"""Largest difference between the flows of a pair of states that still counts as detailed balance."""

UNIT = 1e-13
"""Distance from one, a state's share of rounding, below which an eigenvalue counts as one."""


@dataclass(frozen=True, eq=False)
class ChainSpectrum:
    """What the eigenvalues of a transition matrix P say of its chain.

    Attributes:
        gap: smallest Dirichlet form over variance: 1 - lambda_2 of P where it is reversible, and of its
            additive reversibilisation (P + P*) / 2 where it is not (STMH, Definition 1, on the whole space;
            Fill 1991). 0 where the states fall into pieces.
        second_modulus: the largest modulus of an eigenvalue of P besides the one that belongs to constants:
            the chain forgets like its powers. 1 where it is periodic or falls into pieces.
        contraction: the second largest singular value of P on L2 of the law: what one step does at worst to
            a function of mean zero; its square belongs to the multiplicative reversibilisation P P*. The
            same as `second_modulus` for a reversible chain, and possibly 1 for another.
        reversible: whether P is in detailed balance with the law.
        slowest: the eigenfunction of lambda_2, of the reversibilisation where P is not reversible,
            ``(size,)``, of mean zero and variance one under the law.
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
        """Steps in which what is slowest falls by the factor e: -1 / log(second_modulus)."""
        return _steps(self.second_modulus)

    def mixing_time_bound(self, smallest: float, threshold: float = 0.25) -> float:
        """Steps after which the total variation from every start is at most `threshold`, guaranteed.

        From 4 TV^2 <= contraction^(2 t) / law(start) (Fill 1991; for reversible chains Diaconis and Stroock
        1991). Infinite where a single step need not contract.

        Args:
            smallest: the smallest probability of a state under the law.
        """
        needed = torch.tensor(1.0 / (4.0 * threshold**2 * smallest), dtype=torch.float64)
        return float(torch.clamp(needed.log() / 2.0, min=0.0)) * _steps(self.contraction)


def chain_spectrum(matrix: Tensor, law: Tensor) -> ChainSpectrum:
    """The spectrum of the transition matrix `matrix` ``(size, size)`` with stationary law `law` ``(size,)``.

    Raises:
        ValueError: if the law is not stationary to 1e-8, or has a state without mass, or there is one state.
    """
    matrix, law = matrix.double(), law.double()
    if len(law) < 2:
        raise ValueError(f"a gap needs at least two states, {len(law)} were given")
    if not bool((law > 0).all()):
        raise ValueError("the law gives a state no mass; leave out states that are never visited")
    if float((law @ matrix - law).abs().max()) > 1e-8:
        raise ValueError("the law given is not stationary for the matrix given")
    root = law.sqrt()
    similar = root.unsqueeze(-1) * matrix / root
    flow = law.unsqueeze(-1) * matrix
    reversible = bool(float((flow - flow.T).abs().max()) <= REVERSIBLE * float(flow.max()))
    # Constants are taken out, so that an eigenvalue 1 that is left is one that another function has.
    constants = torch.outer(root, root)
    centred = similar - constants
    # Here they are moved below all others, since a lambda_2 below zero is above nothing else.
    values, vectors = torch.linalg.eigh(0.5 * (similar + similar.T) - 3.0 * constants)
    rounding = UNIT * len(law)
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


def restricted_gap(matrix: Tensor, law: Tensor, kept: Tensor) -> float:
    """The gap restricted to the states `kept` (bool, ``(size,)``): STMH, Definition 1.

    Dirichlet form and variance are both taken over pairs of states in the subset, with the law as it is:
    the gap of the chain that stays where a step would leave the subset, over the mass of the subset. For a
    chain that is not reversible it is that of its additive reversibilisation, which has the same form.

    Raises:
        ValueError: if fewer than two states are kept.
    """
    mass = law[kept].sum()
    flow = law.unsqueeze(-1) * matrix
    inside = (0.5 * (flow + flow.T))[kept][:, kept] / law[kept].unsqueeze(-1)
    inside = inside + torch.diag(1.0 - inside.sum(-1))
    return chain_spectrum(inside, law[kept] / mass).gap / float(mass)


def _steps(modulus: float) -> float:
    if modulus >= 1.0:
        return float("inf")
    return 0.0 if modulus <= 0.0 else float(-1.0 / torch.tensor(modulus, dtype=torch.float64).log())
