"""What a target says of itself is compared with its log density where all states can be listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import ExactDraws, Gibbs
from targets import Bernoulli4, Binary, IndependentBits, IndependentLevels, Ising, LogQuadratic, Potts, Target
from targets.randomness import Generator
from targets.trial.claims import try_claims


class Ring(Target):
    """Eight spins on a ring, J = 1/2."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Binary(8)
        self.register_buffer("coupling", torch.tensor(0.5))

    def log_prob(self, theta: Tensor) -> Tensor:
        spins = 2.0 * theta - 1.0
        return self.coupling * (spins * spins.roll(1, -1)).sum(-1)


class Claiming(Ring):
    """The ring with log Z, order parameter and draws, of which one is spoilt."""

    def __init__(self, part: str = "", change: Any = None) -> None:
        super().__init__()
        self.part, self.change = part, change

    def _given(self, part: str, right: Any) -> Any:
        return self.change(right) if part == self.part else right

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        listed = beta * self.log_prob(self.space.states().to(self.coupling)).double()
        found: Tensor = self._given("log Z", listed.logsumexp(0))
        return found

    def magnetisation(self, theta: Tensor) -> Tensor:
        found: Tensor = self._given("magnetisation", (2.0 * theta - 1.0).mean(-1))
        return found

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        states = self.space.states().to(self.coupling)
        sums = self.log_prob(states).softmax(0).cumsum(0)
        draws = self.space.initial(shape, generator, like=self.like())
        place = torch.searchsorted(sums, (self.space.index(draws) + 0.5) / self.space.size)
        found: Tensor = self._given("draws", states[place.clamp(max=255)])
        return found


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        (
            "log Z",
            lambda right: right + 0.1,
            "log_partition of Claiming must be log sum exp.*at beta 1 it gives",
        ),
        ("log Z", lambda right: 1.0, "log_partition of Claiming must be a scalar tensor, not 1.0"),
        ("log Z", lambda right: {}["Z"], r"log_partition of Claiming cannot be evaluated: KeyError: 'Z' \("),
        (
            "magnetisation",
            lambda right: 8.0 * right,
            "magnetisation of Claiming must lie between -1 and 1.*has 8",
        ),
        (
            "magnetisation",
            lambda right: right.mean(),
            r"magnetisation of Claiming must have the shape \(50,\), not",
        ),
        (
            "draws",
            lambda right: right.flip(0) * 0.0,
            "are not draws from it: the mean log density of 2000 is 4",
        ),
        ("draws", lambda right: right[0], r"must have the shape \(1, 2000, 8\), not shape"),
        ("draws", lambda right: 2.0 * right - 1.0, "must lie in its space"),
        (
            "draws",
            lambda right: torch.where(right[..., :1] > right.new_tensor(0.5), right, 1.0 - right),
            "are not draws from it: the mean coordinate 0 of 2000 is 1, that of .* 0.5 ",
        ),
    ],
)
def test_wrong_claims_are_one_sentence(part: str, change: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^The (exact draws of Claiming )?{said}"):
        run_chains(Claiming(part, change), Gibbs(), chains=2, steps=10)


def unknown(right: Tensor) -> Tensor:
    raise ValueError("not known for this instance")


def test_right_ones_pass_and_so_do_those_that_are_not_known() -> None:
    run_chains(Claiming(), Gibbs(), chains=2, steps=10)
    for part in ("log Z", "draws"):
        try_claims("unknown", Claiming(part, unknown))
    for dtype in (torch.bool, torch.int64):
        run_chains(
            Claiming("draws", lambda right, dtype=dtype: right.to(dtype)), ExactDraws(), chains=2, steps=3
        )
    ours = (
        Bernoulli4(),
        IndependentBits(d=6),
        IndependentLevels(),
        LogQuadratic(d=6),
        Ising(size=3),
        Potts(size=3),
    )
    for target in ours:
        for each in (target.double(), target.float()):
            try_claims("ours", each)
