"""The checks that prove exactness must catch every known way of breaking it."""

from __future__ import annotations

import pytest

from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import invariance_error, transition_matrix
from samplers import DLMC, DMALA, PAS, Kernel, ParallelTempering, Swaps
from samplers.proposals.balancing_functions import FUNCTIONS
from targets import Ising, Target
from tests.support.checks import cache_error, dkw_band, invariance, largest_gap, rate_error, sampled_rows
from tests.support.mutants import KERNEL_MUTANTS, LATTICE_MUTANTS, SWAP_MUTANTS, UnbalancedFunction
from tests.support.targets.small_targets import SPACES, random_target

TARGET = random_target(SPACES["binary"], seed=3)
DRAWS = 50_000


def kernel_failures(kernel: Kernel, target: Target = TARGET) -> set[str]:
    """The checks of `test_conformance` that the kernel fails."""
    failures = set()
    if max(invariance(kernel, target, beta) for beta in (1.0, 0.5)) > 1e-12:
        failures.add("invariance")
    gap = largest_gap(sampled_rows(kernel, target, 0.5, DRAWS), transition_matrix(kernel, target, 0.5))
    if gap > dkw_band(DRAWS, SPACES["binary"].size):
        failures.add("sampled rows")
    if cache_error(kernel, target, 0.5) > 1e-12:
        failures.add("cache")
    return failures


def swap_failures(swaps: Swaps) -> set[str]:
    """The product-space check of `test_parallel_tempering`."""
    ladder = [1.0, 0.4]
    tempering = ParallelTempering(DMALA(1.0), ladder=ladder, step_size=1.0, swap=swaps)
    error = invariance_error(tempering_matrix(tempering, TARGET), product_distribution(TARGET, ladder))
    return {"product invariance"} if error > 1e-12 else set()


def test_the_healthy_sampler_passes_every_check() -> None:
    assert kernel_failures(DMALA(1.0)) == kernel_failures(PAS(2.0)) == set()
    assert swap_failures(Swaps(pairing="sequential")) == set()


CAUGHT_BY = {
    "acceptance without beta": "invariance",
    "reverse proposal scaled twice": "invariance",
    "missing reverse term": "invariance",
    "stale cached gradient": "cache",
    "reused uniform": "sampled rows",
    "lopsided proposal": "sampled rows",
    "step without beta": "sampled rows",
    "forgotten path back": "invariance",
    "path back in another order": "invariance",
    "radius of the state": "sampled rows",
}


@pytest.mark.parametrize("name", KERNEL_MUTANTS)
def test_kernel_mutants_are_caught(name: str) -> None:
    assert CAUGHT_BY[name] in kernel_failures(KERNEL_MUTANTS[name]())


@pytest.mark.parametrize("name", LATTICE_MUTANTS)
def test_lattice_mutants_are_caught(name: str) -> None:
    assert "invariance" in kernel_failures(LATTICE_MUTANTS[name](), Ising("random", 3, 0.5, degree=2))


def test_an_unbalanced_function_is_caught() -> None:
    target = random_target(SPACES["ordinal"], seed=3)
    for name in FUNCTIONS:
        assert rate_error(DLMC(1e-7, name), target) <= 1e-5
    assert rate_error(UnbalancedFunction(1e-7), target) > 0.5


@pytest.mark.parametrize("name", SWAP_MUTANTS)
def test_swap_mutants_are_caught(name: str) -> None:
    assert swap_failures(SWAP_MUTANTS[name]()) == {"product invariance"}
