"""Commands with ``device=cuda``: given the CPU's random numbers its golden numbers; every experiment."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.cuda.host_numbers import host_numbers
from tests.golden.cases import CASES, EXPERIMENTS, Case
from tests.golden.computing import compute, compute_experiment
from tests.golden.expectation import RANKED, Closeness, differences, is_digest, load

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

SHOWN = 12
"""Differences that a failure prints."""

MILLIONTH = Closeness(1e-6, 1e-6)
"""How far metrics may be from those of the CPU; digests and values of ranks are not compared."""

UNORDERED = ("hamming_ball", "block_gibbs")
"""Samplers that take their block's coordinates in the order of `torch.topk`, which devices choose."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_gives_the_numbers_of_the_cpu(case: Case, tmp_path: Path) -> None:
    """In float64; others must run to their end."""
    with host_numbers():
        got = compute(case, tmp_path, "cuda")
    if case.float64 and not case.name.partition("/")[2].startswith(UNORDERED):
        expected = load(case.group)[case.name]
        every = differences(case.name, expected.result, got, MILLIONTH)
        compared = (each for each in every if not is_digest(each.expected))
        found = [each for each in compared if not each.name.startswith(RANKED)]
        assert not found, f"{len(found)} values differ:\n" + "\n".join(map(str, found[:SHOWN]))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_runs_on_the_device(name: str, tmp_path: Path) -> None:
    assert compute_experiment(name, tmp_path, "cuda")
