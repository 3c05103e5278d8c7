"""Small runs must give the numbers that were recorded of them.

What it is. Each case below is a small command of ``python -m runner``; its metrics at every recorded step,
its tuned hyperparameters, the digests of its weights and draws and its cost in evaluations lie in
``tests/golden/expected``. A change that moves code must leave all of them as they are. The cases marked slow
and all experiments at ``scale=smoke`` are kept there too: ``pytest -m slow tests/golden`` or, with every
difference printed, ``python -m tests.golden.compare``.

How numbers are compared. On a machine like the one that recorded them (processor, instruction set, version of
torch) every bit must be the same. Other machines round sums differently: cases in float64 must agree within
1e-8 (ESS and R-hat, made of ranks, within 2 %) and have the same draws; those in float32, and all experiments
but two, are skipped. Where errors of rounding grow, in networks fitted to images and in tiny gaps of these
two, 1e-5 is enough. Spectral gaps are the exception: their eigensolvers round differently from one process to
the next on one machine too (by up to 3e-11 of the value), so they must agree within 1e-8.

How to compare every bit on any machine. In a checkout of the commit before, ``python -m tests.golden.record
--out FOLDER``; with the change, ``python -m tests.golden.compare --expected FOLDER``. Both take ``--only``.

How to record anew. ``python -m tests.golden.record --only 'tempering/*'`` writes the numbers of these cases;
without ``--only`` it writes all of them. This is right in two situations: a deliberate correction that
changes numbers, which CHANGELOG.md must list under *Numbers*; and a new version of torch or another machine,
with no other change in the same commit. A difference that was not intended is a mistake in the code, not in
the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch

from tests.golden import expectation
from tests.golden.cases import CASES, EXPERIMENT_GROUP, EXPERIMENTS, Case, is_sensitive, is_solved
from tests.golden.computing import compute, compute_experiment, temporary_folder
from tests.golden.expectation import BITS, FOLDER, Expected, differences
from tests.golden.machine import described, machine, same
from tests.golden.reading import Result

SHOWN = 20
"""Differences that a failure prints."""

load = cache(expectation.load)


def parameters() -> list[object]:
    """Every case; those that are not permanent are slow."""
    return [
        pytest.param(case, id=case.name, marks=[] if case.permanent else [pytest.mark.slow]) for case in CASES
    ]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """One thread, as when the numbers were recorded; afterwards as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("case", parameters())
def test_a_case_gives_what_was_recorded(case: Case, tmp_path: Path) -> None:
    expected = recorded(case.name, float64=case.float64)
    check(case.name, expected, compute(case, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_what_was_recorded(name: str, shared: Path) -> None:
    full = f"{EXPERIMENT_GROUP}/{name}"
    expected = recorded(full, float64=is_solved(full))
    check(full, expected, compute_experiment(name, shared))


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """Where experiments keep the runs that several of them have."""
    with temporary_folder() as folder:
        yield folder


def test_every_case_is_recorded_and_nothing_else() -> None:
    names = {case.name for case in CASES} | {f"{EXPERIMENT_GROUP}/{name}" for name in EXPERIMENTS}
    kept = {name for path in FOLDER.glob("*.json") for name in load(path.stem)}
    assert kept == names


def recorded(name: str, *, float64: bool) -> Expected:
    """What was recorded of a case; skips where it cannot be compared on this machine."""
    expected = load(name.split("/")[0])[name]
    here = machine()
    if not float64 and not same(expected.machine, here):
        pytest.skip(f"float32, recorded on {described(expected.machine)}; this is {described(here)}")
    return expected


def check(name: str, expected: Expected, got: Result) -> None:
    """Fails with the first differences, if there are any."""
    closeness = expected.closeness(machine(), solved=is_solved(name), sensitive=is_sensitive(name))
    found = list(differences(name, expected.result, got, closeness))
    shown = "\n".join(map(str, found[:SHOWN]))
    how = "in some bit" if closeness == BITS else f"by more than {closeness.numbers:g}"
    assert not found, f"{len(found)} values differ ({how}) from commit {expected.commit}:\n{shown}"
