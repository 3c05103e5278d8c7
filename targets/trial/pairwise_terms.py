"""Compares the pairwise terms of a target with its log density: cluster kernels see those terms alone."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.checks import described
from targets.spaces import Discrete
from targets.target import PairwiseInteractions, PairwiseTerms, Target
from targets.trial.failures import failure
from targets.trial.some_states import some_states

ROUNDING = 1e-3
"""How far the sum of the terms may be from the log density, as a share of its size."""


def try_pairwise_terms(name: str, target: Target) -> None:
    """Refuses a target whose `pairwise_terms` do not add up to its log density, where it has them.

    Args:
        name: what the target is called in the message.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    if not isinstance(target, PairwiseInteractions) or not isinstance(target.space, Discrete):
        return
    try:
        terms = target.pairwise_terms()
    except Exception as error:
        raise ValueError(f"The pairwise terms of {name} cannot be evaluated: {failure(error)}.") from error
    _check_shapes(name, target.space, terms)
    states = some_states(target)
    own = target.log_prob(states).double()
    added = _added(target.space.to_levels(states), terms)
    possible = own.isfinite()
    room = ROUNDING * (1.0 + own.where(possible, 0.0).abs().max())
    lacking = own - added
    off = possible & ~(lacking.abs() <= room)
    if bool(off.any()):
        first = lacking[off][0]
        if bool(((lacking - first).abs() <= room)[possible].all()):
            raise ValueError(
                f"The pairwise terms of {name} must add up to its log density, which differs from them by "
                f"{float(first):.6g} at every state: their constant must be "
                f"{float(terms.constant + first):.6g}."
            )
        raise ValueError(
            f"The pairwise terms of {name} must add up to its log density; to one state they give "
            f"{float(added[off][0]):.6g}, and log_prob gives {float(own[off][0]):.6g} (K of an edge counts "
            "where its ends agree: for spins -1 and 1 it is twice their J)."
        )


def _added(levels: Tensor, terms: PairwiseTerms) -> Tensor:
    """The sum of all terms at `levels` ``(n, d)``: ``(n,)``, float64."""
    one, other = (levels[:, end] for end in terms.edges.unbind(-1))
    couplings = torch.where(one == other, terms.couplings.double(), 0.0).sum(-1)
    field = terms.field.double().unsqueeze(0).expand(len(levels), -1, -1)
    return couplings + field.gather(-1, levels.unsqueeze(-1)).sum((1, 2)) + terms.constant.double()


def _check_shapes(name: str, space: Discrete, terms: object) -> None:
    if not isinstance(terms, PairwiseTerms):
        raise ValueError(f"The pairwise terms of {name} must be PairwiseTerms, not {described(terms)}.")
    edges = len(terms.edges) if isinstance(terms.edges, Tensor) and terms.edges.dim() else 0
    expected = {
        "edges": (edges, 2),
        "couplings": (edges,),
        "field": (space.d, space.levels),
        "constant": (),
    }
    for part, shape in expected.items():
        given = getattr(terms, part)
        if not isinstance(given, Tensor) or tuple(given.shape) != shape:
            got = f"shape {tuple(given.shape)}" if isinstance(given, Tensor) else described(given)
            raise ValueError(f"The pairwise terms of {name} must have {part} of shape {shape}, not {got}.")
    if terms.edges.dtype != torch.int64 or bool(((terms.edges < 0) | (terms.edges >= space.d)).any()):
        raise ValueError(
            f"The pairwise terms of {name} must have edges between coordinates 0 to {space.d - 1}, as int64."
        )
