"""Local entropy against the double loop of its definition, and its two limits."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.landscape.local_entropy import LocalEntropy, local_entropies
from targets import Bernoulli4, Binary, Categorical, Ordinal
from tests.support.measuring import context, measure, random_draws
from tests.support.targets.modes import corners

SPACES = [Binary(4), Ordinal(2, 5), Ordinal(3, 3), Categorical(2, 3)]


def twin(states: list[list[float]], log_prob: list[float], eta: float) -> list[float]:
    """EDLP, Eq. 2, as it is written."""
    found = []
    for here in states:
        total = 0.0
        for there, energy in zip(states, log_prob, strict=True):
            square = sum((a - b) ** 2 for a, b in zip(here, there, strict=True))
            total += math.exp(energy - square / (2 * eta))
        found.append(math.log(total))
    return found


@pytest.mark.parametrize("eta", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_it_is_the_sum_over_all_states(space, eta: float) -> None:
    log_prob = torch.randn(space.size, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = local_entropies(space, log_prob, eta)
    expected = twin(space.states().flatten(1).tolist(), log_prob.tolist(), eta)
    assert torch.allclose(found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)


def test_states_without_density_add_nothing() -> None:
    log_prob = torch.tensor([0.0, -torch.inf, -torch.inf, -torch.inf], dtype=torch.float64)
    found = local_entropies(Binary(2), log_prob, 0.5)
    assert torch.allclose(found, torch.tensor([0.0, -1.0, -1.0, -2.0], dtype=torch.float64))


@pytest.mark.parametrize("target", [corners(), Bernoulli4()], ids=["ordinal", "binary"])
def test_the_metric_is_its_mean_over_draws(target) -> None:
    draws = random_draws(target, steps=5, seeds=2, chains=6)
    result = measure(context(target, 2, 6), [LocalEntropy], draws).result()
    states = target.space.states().tolist()
    entropies = twin(states, target.log_prob(target.space.states()).tolist(), 0.1)
    for seed in range(2):
        seen = [
            entropies[states.index(theta)] for theta in draws[:, seed].reshape(-1, target.space.d).tolist()
        ]
        assert result["local_entropy"][seed].item() == pytest.approx(sum(seen) / len(seen), abs=1e-6)
    pi = target.probabilities().tolist()
    expected = sum(p * entropy for p, entropy in zip(pi, entropies, strict=True))
    assert result["local_entropy_exact"].tolist() == pytest.approx([expected] * 2, abs=1e-12)
