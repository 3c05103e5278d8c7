"""Independent coordinates and log-quadratic targets: gradients, differences, sums and draws."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from targets import (
    Binary,
    FactorialHMM,
    IndependentBits,
    IndependentLevels,
    LetterInfilling,
    LogQuadratic,
    SingleSiteDifferences,
    Streams,
)
from targets.enumeration import enumerated_probabilities
from targets.randomness import draw_index
from targets.spaces import Discrete
from tests.support.error_message import error_message

MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "bits": lambda: IndependentBits(5, instance_seed=2),
    "levels": lambda: IndependentLevels(3, 4, spread=0.7),
    "quadratic bits": lambda: LogQuadratic("binary", 6),
    "quadratic ordinal": lambda: LogQuadratic("ordinal", 3, 5),
    "quadratic levels": lambda: LogQuadratic("categorical", 3, 4),
    "hmm": lambda: FactorialHMM(3, 2),
    "letters": lambda: LetterInfilling(length=12, masked=0.2),
}
every = pytest.mark.parametrize("name", MODELS)
differentiable = pytest.mark.parametrize("name", [name for name in MODELS if name != "letters"])


@differentiable
def test_the_gradient_is_that_of_the_log_density(name: str) -> None:
    target = MODELS[name]()
    theta = target.initial((2, 6), Streams([0, 1], "start"))
    log_prob, grad = target.log_prob_and_grad(theta)
    leaf = theta.clone().requires_grad_(True)
    (expected,) = torch.autograd.grad(target.log_prob(leaf).sum(), leaf)
    torch.testing.assert_close(grad, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(log_prob, target.log_prob(theta), rtol=0, atol=1e-12)


@every
def test_differences_are_those_of_all_neighbours(name: str) -> None:
    target = MODELS[name]()
    assert isinstance(target, SingleSiteDifferences)
    theta = target.initial((2, 4), Streams([0, 1], "start"))
    log_prob, differences = target.log_prob_and_differences(theta)
    expected = neighbour_differences(target, theta)
    assert differences.shape == expected.shape
    torch.testing.assert_close(differences, expected, rtol=0, atol=1e-11)
    torch.testing.assert_close(log_prob, target.log_prob(theta), rtol=0, atol=1e-12)


def neighbour_differences(target: torch.nn.Module, theta: Tensor) -> Tensor:
    """U at every neighbour less U, one state after the other: ``(*batch, d)`` or ``(*batch, d, levels)``."""
    space: Discrete = target.space
    columns = []
    for site in range(space.d):
        for level in range(space.levels):
            levels = space.to_levels(theta)
            levels[..., site] = level
            columns.append(target.log_prob(space.from_levels(levels, theta.dtype)) - target.log_prob(theta))
    table = torch.stack(columns, -1).unflatten(-1, (space.d, space.levels))
    if isinstance(space, Binary):
        return table.gather(-1, 1 - theta.long().unsqueeze(-1)).squeeze(-1)
    return table


@pytest.mark.parametrize("name", ["bits", "levels"])
def test_the_sum_over_independent_coordinates_is_a_product(name: str) -> None:
    target = MODELS[name]()
    for beta in (1.0, 0.4):
        every_state = (beta * target.log_prob(target.space.states())).logsumexp(0)
        assert float(target.log_partition(beta)) == pytest.approx(float(every_state), abs=1e-12)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("hmm", "letters")])
def test_exact_draws_have_the_enumerated_probabilities(name: str) -> None:
    """The band of Dvoretzky, Kiefer and Wolfowitz: false alarm 1e-6; gaps above 0.0085 are found."""
    target = MODELS[name]()
    assert torch.equal(target.probabilities(), enumerated_probabilities(target))
    draws = 100_000
    theta = target.sample((1, draws), Streams([5], "chain"))
    counts = target.space.index(theta).flatten().bincount(minlength=target.space.size)
    gap = (counts.double() / draws - target.probabilities()).cumsum(0).abs().max()
    assert float(gap) < (math.log(2 / 1e-6) / (2 * draws)) ** 0.5


@every
def test_numbers_have_the_precision_of_the_target(name: str) -> None:
    target = MODELS[name]().to(torch.float32)
    theta = target.initial((2, 4), Streams([0, 1], "start"))
    found = (
        *target.log_prob_and_grad(theta),
        *target.log_prob_and_differences(theta),
        target.log_prob(theta),
    )
    assert {value.dtype for value in (theta, *found)} == {torch.float32}
    assert target.sample((2, 3), Streams([0, 1], "chain")).dtype == torch.float32


@pytest.mark.parametrize("name", [name for name in MODELS if "quadratic" not in name])
def test_results_of_a_chain_do_not_depend_on_the_others(name: str) -> None:
    target = MODELS[name]().to(torch.float32)
    theta = target.initial((1, 33), Streams([0], "start"))
    together, alone = target.log_prob_and_grad(theta), target.log_prob_and_grad(theta[:, 20:21])
    for whole, one in zip(together, alone, strict=True):
        assert torch.equal(whole[:, 20], one[:, 0])


def test_an_index_is_drawn_by_inversion() -> None:
    weights = torch.tensor([0.0, 2.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    numbers = torch.tensor([0.0, 0.4999, 0.5, 0.7499, 0.75, 0.9999999], dtype=torch.float64)
    assert draw_index(weights, numbers).tolist() == [1, 1, 3, 3, 4, 4]
    assert draw_index(weights.expand(6, 5), numbers).tolist() == [1, 1, 3, 3, 4, 4]


def test_without_spread_all_states_are_equally_likely() -> None:
    for target in (IndependentBits(1, spread=0.0), IndependentLevels(2, 3, spread=0)):
        probabilities = target.probabilities()
        assert torch.equal(probabilities, torch.full_like(probabilities, 1 / len(probabilities)))


@pytest.mark.parametrize(
    ("build", "given", "sentence"),
    [
        (IndependentBits, {"d": 0}, "d must be a whole number of at least 1, 0 was given"),
        (IndependentBits, {"spread": -1.0}, "spread must be a number of at least 0, -1.0 was given"),
        (IndependentLevels, {"levels": 1}, "levels must be a whole number of at least 2, 1 was given"),
        (
            IndependentLevels,
            {"instance_seed": -1},
            "instance_seed must be a whole number of at least 0, -1 was given",
        ),
        (LogQuadratic, {"levels": 3}, "levels must be 2 for space=binary, 3 was given"),
        (LogQuadratic, {"roughness": -1.0}, "roughness must be a positive number, -1.0 was given"),
        (
            LogQuadratic,
            {"space": "bits"},
            "space must be one of binary, categorical, ordinal, 'bits' was given",
        ),
    ],
)
def test_what_no_such_target_has_is_refused(
    build: Callable[..., object], given: dict[str, object], sentence: str
) -> None:
    assert error_message(ValueError, build, **given) == sentence


def test_probabilities_follow_coefficients_that_were_changed_in_place() -> None:
    target = LogQuadratic("binary", 4)
    target.probabilities()
    target.bias.mul_(2.0)
    assert torch.equal(target.probabilities(), enumerated_probabilities(target))
    assert target.probabilities() is target.probabilities()
    other = copy.deepcopy(target)
    other.bias.zero_()
    assert torch.equal(other.probabilities(), enumerated_probabilities(other))
