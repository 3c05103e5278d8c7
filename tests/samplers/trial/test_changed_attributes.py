"""What kernels and targets remember between steps no checkpoint keeps: those that do are refused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import DULA, Gibbs, ParallelTempering
from samplers.kernel import Kernel, State
from samplers.trial.step_trial import try_step
from targets import LogQuadratic, Streams, Target
from targets.models.binary_bnn import BinaryBNN
from targets.trial.attributes import attributes, changed
from targets.versions import changes
from tests.support.targets.small_tables import made_up

ONE = torch.ones((), dtype=torch.float64)


class Remembers(Gibbs):
    """Gibbs that does something to itself before each step."""

    does: Callable[[Any], object]

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> Any:
        type(self).does(self)
        return super().step(target, state, beta, generator)


def counts(self: Any) -> None:
    self.n = getattr(self, "n", 0) + 1


def switches(self: Any) -> None:
    self.started = True


def counts_inside(self: Any) -> None:
    self.own.setdefault("deep", [{"n": 0}])[0]["n"] += 1


def adds_to_a_tensor(self: Any) -> None:
    self.visits[3] += 1.0


def adds_to_a_large_tensor(self: Any) -> None:
    self.large[12_345] += 1.0


REFUSED = {
    "n from 1 to 2": counts,
    "started from False to True": switches,
    r"own\['deep'\]\[0\]\['n'\] from 1 to 2": counts_inside,
    "visits;": adds_to_a_tensor,
    "large;": adds_to_a_large_tensor,
    "the length of seen from 1 to 2": lambda self: self.seen.append("a"),
    "rng;": lambda self: self.rng.random(),
    "legacy;": lambda self: self.legacy.rand(),
    "pythons;": lambda self: self.pythons.random(),
    "torchs;": lambda self: torch.rand(1, generator=self.torchs),
    r"count from .count\(0\). to .count\(1\).;": lambda self: next(self.count),
}


def remembering(does: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Remembers, "does", staticmethod(does), raising=False)
    kernel: Any = Remembers()
    kernel.started, kernel.own, kernel.seen, kernel.table = False, {}, [], None
    kernel.visits, kernel.large = torch.zeros(5), torch.zeros(30_000)
    kernel.rng, kernel.legacy = np.random.default_rng(0), np.random.RandomState(0)
    kernel.pythons, kernel.torchs, kernel.count = random.Random(0), torch.Generator(), itertools.count()
    return kernel


@pytest.mark.parametrize("said", REFUSED)
def test_a_kernel_that_remembers_is_refused_by_the_name_of_the_attribute(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of it that was interrupted went on with other numbers under the same id, without a word."""
    kernel = remembering(REFUSED[said], monkeypatch)
    with pytest.raises(ValueError, match=f"^Remembers.step must change no attribute of .* it changed {said}"):
        run_chains(LogQuadratic(d=5), kernel, chains=2, steps=10)


def test_inside_a_ladder_the_kernel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, target = ParallelTempering(remembering(counts, monkeypatch), [1.0, 0.4]), LogQuadratic(d=5)
    theta = target.initial((2, 1, 2), Streams([0], "start"))
    with pytest.raises(ValueError, match=r"of Remembers inside ParallelTempering, .* base.n from 1 to 2"):
        try_step(kernel, target, theta, ONE)


def makes_a_table(self: Any) -> None:
    self.own["table"] = self.table = torch.ones(3) if self.table is None else self.table


def counts_in_a_cache(self: Any) -> None:
    self.cache = Cache() if self.cache is None else self.cache
    self.cache.hits += 1


class Cache:
    hits = 0

    def __getstate__(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("does", [makes_a_table, lambda self: setattr(self, "scale", float("nan"))])
def test_what_is_made_at_its_first_use_and_kept_passes(
    does: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_chains(LogQuadratic(d=5), remembering(does, monkeypatch), chains=2, steps=10)


def test_a_cache_that_copies_leave_out_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = remembering(counts_in_a_cache, monkeypatch)
    kernel.cache = None
    run_chains(LogQuadratic(d=5), kernel, chains=2, steps=10)


@pytest.mark.parametrize("tensor", [torch.ones(()), torch.ones(3, dtype=torch.bool), torch.ones(20_000)])
def test_changes_of_a_tensor_that_was_looked_at_are_still_counted(tensor: Tensor) -> None:
    """In memory that NumPy holds, too, they are not: steps with a prepared beta were not compiled then."""
    assert attributes(SimpleNamespace(tensor=tensor))
    assert changes(tensor) == 0


class Counted(LogQuadratic):
    """A target that counts its evaluations."""

    calls = 0

    def log_prob(self, theta: Tensor) -> Tensor:
        self.calls += 1
        return super().log_prob(theta)


def test_a_target_that_remembers_is_refused() -> None:
    said = r"^the target Counted must not change its attributes .* changed calls from \d+ to \d+; a cache is"
    with pytest.raises(ValueError, match=said):
        run_chains(Counted(d=5), DULA(0.3), chains=2, steps=10)


def kernel_on_network() -> tuple[Kernel, Target]:
    return DULA(0.3), BinaryBNN(made_up(), n_hidden=3)


def test_memory_that_is_used_again_passes() -> None:
    kernel, target = kernel_on_network()
    theta = target.initial((1, 2), Streams([0], "start"))
    try_step(kernel, target, theta, target.like().new_ones(()))


def test_a_module_has_its_parameters_by_their_names() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False))
    before = attributes(module)
    module[0].weight.data += 1.0
    assert "0.weight" in before
    assert changed(before, attributes(module)) == "0.weight"
