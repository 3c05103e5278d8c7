"""Informed samplers by enumeration: on every kind of space, with every balancing function and differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import DLMC, PAS, DLMCForward, DMALANewton, LocallyBalanced
from samplers.informed.informed_kernel import InformedKernel
from samplers.proposals.balancing_functions import FUNCTIONS
from targets import Binary, Categorical, Discrete, Ordinal
from tests.support.checks import dkw_band, invariance, largest_gap, sampled_rows
from tests.support.targets.small_targets import random_target

SPACES: dict[str, Discrete] = {
    "binary": Binary(4),
    "ordinal": Ordinal(2, 3),
    "categorical": Categorical(2, 3),
}
KERNELS: dict[str, Callable[[str, str], InformedKernel]] = {
    "one_site": lambda function, differences: LocallyBalanced(function, 1, differences),
    "two_sites": lambda function, differences: LocallyBalanced(function, 2, differences),
    "three_sites": lambda function, differences: LocallyBalanced(function, 3, differences),
    "pas": lambda function, differences: PAS(1.6, False, function, differences),
    "pas_replacement": lambda function, differences: PAS(1.3, True, function, differences),
    "dlmc": lambda function, differences: DLMC(0.7, function, differences),
    "dlmc_forward": lambda function, differences: DLMCForward(0.7, function, differences),
    "dmala_newton": lambda function, differences: DMALANewton(1.0),
}
REFUSED = {
    ("two_sites", "binary"),
    ("three_sites", "ordinal"),
    ("three_sites", "categorical"),
    ("dmala_newton", "ordinal"),
}
DRAWS = 10_000


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS)
def test_the_tempered_target_is_left_invariant_and_steps_follow_the_rows(name: str, space: str) -> None:
    """False alarm 1e-6 a test of the steps (DKW), which are drawn for one balancing function."""
    target, build = random_target(SPACES[space], seed=4), KERNELS[name]
    if (name, space) in REFUSED:
        with pytest.raises(ValueError, match=r"sites must be|needs a binary or categorical space"):
            build("sqrt", "exact").check(target)
        return
    for function, differences in itertools.product(FUNCTIONS, ("exact", "gradient")):
        kernel = build(function, differences)
        kernel.check(target)
        for beta in (1.0, 0.4):
            assert invariance(kernel, target, beta) <= 1e-12
    kernel = build("barker", "exact")
    matrix = transition_matrix(kernel, target, 0.4)
    gap = largest_gap(sampled_rows(kernel, target, 0.4, DRAWS), matrix)
    assert gap <= dkw_band(DRAWS, len(matrix)) < 0.04
