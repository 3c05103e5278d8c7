"""Pairwise terms that are not those of the log density are refused: a cluster kernel would go by them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import SwendsenWang
from targets import Binary, Ising, Potts, Target
from targets.target import PairwiseTerms
from targets.trial.pairwise_terms import try_pairwise_terms


class Ring(Target):
    """Spins on a ring with J = 1/2; `change` is what becomes of its right terms."""

    def __init__(self, change: Any = lambda terms: terms) -> None:
        super().__init__()
        self.space, self.change = Binary(6), change
        self.register_buffer("edges", torch.tensor([[i, (i + 1) % 6] for i in range(6)]))

    def log_prob(self, theta: Tensor) -> Tensor:
        spins = 2.0 * theta - 1.0
        return 0.5 * (spins * spins.roll(1, -1)).sum(-1) + 0.3 * theta.sum(-1)

    def pairwise_terms(self) -> Any:
        field = torch.tensor([0.0, 0.3]).expand(6, 2)
        return self.change(PairwiseTerms(self.edges, torch.ones(6), field, torch.tensor(-3.0)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda terms: replace(terms, couplings=terms.couplings / 2),
            "must add up to its log density; to one",
        ),
        (lambda terms: replace(terms, field=terms.field.flip(-1)), "must add up to its log density"),
        (
            lambda terms: replace(terms, constant=terms.constant + 0.1),
            "must add .* their constant must be -3.",
        ),
        (
            lambda terms: replace(terms, field=terms.field[:, 1]),
            r"must have field of shape \(6, 2\), not shape \(6,\)",
        ),
        (lambda terms: replace(terms, couplings=1.0), r"must have couplings of shape \(6,\), not 1.0"),
        (
            lambda terms: replace(terms, edges=terms.edges + 1),
            "must have edges between coordinates 0 to 5, as int64",
        ),
        (lambda terms: {}["J"], r"cannot be evaluated: KeyError: 'J' \(test_pairwise_trial.py, line"),
        (lambda terms: None, "must be PairwiseTerms, not a NoneType"),
    ],
)
def test_wrong_terms_are_one_sentence(change: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^The pairwise terms of Ring {said}"):
        run_chains(Ring(change), SwendsenWang(), chains=2, steps=10)


def test_right_terms_pass() -> None:
    run_chains(Ring(), SwendsenWang(), chains=2, steps=10)
    ours = (Ising(size=8), Ising(size=4, field=0.3), Ising(size=5, disorder="gaussian"), Potts(size=4))
    for target in ours:
        for each in (target.double(), target.float()):
            try_pairwise_terms("ours", each)
