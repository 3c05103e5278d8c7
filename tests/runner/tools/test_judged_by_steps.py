"""`python -m runner.exactness` judges a sampler by its steps, and tells a refusal from a crash."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from runner.tools.exactness.distances import Distance, distance
from runner.tools.exactness.enumerable_targets import log_quadratic
from runner.tools.exactness.exactness_command import CRASHED, main
from runner.tools.exactness.exactness_page import exactness_verdict
from runner.tools.exactness.kernel_variants import KernelVariant
from runner.tools.exactness.served import LONGEST, crash
from runner.tools.exactness.small_tours import SmallTours
from samplers import DMALA, Gibbs, ParallelTempering, SimulatedTempering, Swaps, UniformDraws
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.tempering.simulated.simulated_tempering import LEVEL
from targets.randomness import Generator
from targets.spaces import Binary
from targets.target import Target
from tests.support.mutants import KERNEL_MUTANTS, SWAP_MUTANTS

TARGET = log_quadratic(Binary(3))
DRAWS = 20_000
LADDER = [1.0, 0.4]
STEP = "NOT EXACT: step is another"


def judged(kernel: Kernel, draws: int = DRAWS) -> Distance:
    return distance([KernelVariant("one", kernel)], "binary", TARGET, draws)


@pytest.mark.parametrize("name", ["lopsided proposal", "step without beta", "reused uniform"])
def test_a_step_that_its_formulas_do_not_describe_is_found(name: str) -> None:
    """Enumeration alone says of all three that they leave the target invariant."""
    found = judged(KERNEL_MUTANTS[name]())
    assert found.claimed
    assert found.error <= 1e-12
    assert exactness_verdict(found) == STEP


def test_a_stale_gradient_is_refused_before_its_steps_are_counted() -> None:
    """Enumeration, which evaluates each state anew, would say that it leaves the target invariant."""
    found = judged(KERNEL_MUTANTS["stale cached gradient"]())
    assert exactness_verdict(found) == "CRASHED"
    assert "as the state's grad" in found.crash


class OtherSwaps(ParallelTempering):
    """Swaps in its step by another rule than the one it has."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        other = ParallelTempering(self.base, LADDER, swap=SWAP_MUTANTS["reversed swap sign"]())
        return other.step(target, state, beta, generator)


class Level(SimulatedTempering):
    """Steps as if all levels were cold."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        cold, _ = self.base.step(target, replace(state, aux={}), beta, generator)
        stays = after.aux[LEVEL] == state.aux[LEVEL]
        theta = torch.where(stays.unsqueeze(-1), cold.theta, after.theta)
        return replace(evaluate(target, theta, gradient=True), aux=after.aux), replace(info, evaluations=3)


class Faster(DMALA):
    """Is prepared as another kernel: what a run on a small target steps."""

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        return DMALA(3.0)


class Astray(Gibbs):
    """Leaves the space, at one place in a thousand steps or so."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        lost = torch.arange(len(after.theta)) % 1009 == 1008
        return replace(after, theta=after.theta + 0.5 * lost.unsqueeze(-1)), info


@pytest.mark.parametrize(
    "kernel",
    [
        lambda: OtherSwaps(DMALA(1.0), LADDER, swap=Swaps(pairing="sequential")),
        lambda: Level(DMALA(1.0), LADDER, [0.0, 0.0]),
        lambda: Faster(1.0),
        lambda: Astray(),
    ],
    ids=["swaps", "levels", "prepared", "no state"],
)
def test_every_step_that_a_run_takes_is_judged(kernel: Callable[[], Kernel]) -> None:
    assert exactness_verdict(judged(kernel())) == STEP


@pytest.mark.parametrize(
    ("kernel", "matrices"),
    [
        (Gibbs("systematic"), 9),
        (ParallelTempering(Gibbs("systematic"), LADDER), 6),
        (SimulatedTempering(Gibbs("systematic"), LADDER, [0.0, 0.5]), 3),
        (ParallelTempering(DMALA(1.0), [1.0, 0.5, 0.0], step_size=[0.5, 1.5, 4.5]), 2),
    ],
)
def test_cycles_and_ladders_step_as_enumerated(kernel: Kernel, matrices: int) -> None:
    """All positions of a cycle, in a ladder too, and a chain that is not reversible: odd-even swaps."""
    found = judged(kernel)
    assert (found.checked, exactness_verdict(found)) == (matrices, "exact")
    assert found.p_value > 1e-3


def test_an_inexact_sampler_is_judged_by_its_step_too() -> None:
    class Unadjusted(DMALA):
        exact = False

        def step(
            self, target: Target, state: State, beta: Tensor, generator: Generator
        ) -> tuple[State, Info]:
            return super().step(target, state, 0.0 * beta, generator)

    found = judged(Unadjusted(1.0))
    assert not found.claimed
    assert found.fails
    assert exactness_verdict(found) == STEP


def test_uniform_draws_of_tours_are_as_likely_as_there_are_permutations() -> None:
    """They were said to be uniform on all vectors of cities, the others too."""
    found = distance([KernelVariant("uniform_draws", UniformDraws())], "tours", SmallTours(), DRAWS)
    assert not found.fails
    pi = SmallTours().probabilities()
    assert found.error == pytest.approx(float((pi - 1 / 6).abs().max()))


OWN = """
import torch
from samplers.discrete.dmala import DMALA
from samplers.discrete.gibbs import Gibbs


class Forgetful(DMALA):
    def step(self, target, state, beta, generator):
        return super().step(target, state, torch.ones_like(beta), generator)


class Picky(Gibbs):
    def check(self, target):
        if target.space.levels != 2:
            raise ValueError("picky needs a binary space")


class Clumsy(Gibbs):
    def init(self, target, theta, beta):
        if target.space.levels == 5:
            raise ValueError("cannot reshape\\nan array")
        return super().init(target, theta, beta)

    def step(self, target, state, beta, generator):
        if target.space.levels == 3:
            raise KeyError("levels")
        return super().step(target, state, beta, generator)


class Broken(Gibbs):
    def check(self, target):
        raise IndexError


class FalseAndClumsy(Forgetful):
    def init(self, target, theta, beta):
        if target.space.levels > 2:
            raise RuntimeError("no")
        return super().init(target, theta, beta)
"""


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, list[dict[str, str]]]]:
    """The command on a sampler of one's own: status, what it says, the rows of its file."""
    (tmp_path / "outside.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "outside", raising=False)

    def run(name: str, *more: str) -> tuple[int, str, list[dict[str, str]]]:
        status = main([f"output_root={tmp_path}", f"sampler._target_=outside.{name}", *more], 4_000)
        with (tmp_path / "exactness" / "exactness.csv").open(newline="") as file:
            return status, " ".join(capsys.readouterr().out.split()), list(csv.DictReader(file))

    return run


Command = Callable[..., tuple[int, str, list[dict[str, str]]]]


def test_the_command_says_not_exact_of_a_step_that_forgets_beta(command: Command) -> None:
    status, said, rows = command("Forgetful", "sampler.step_size=1.0", "target=bernoulli4")
    assert status == 1
    assert [row["found"] for row in rows] == [STEP]
    assert float(rows[0]["error"]) <= 1e-12
    assert float(rows[0]["p_value"]) < 1e-6
    assert STEP in said
    assert "The claim fails: Forgetful" in said
    assert "0 of 1 samplers that claim to be exact are" in said
    assert "4,000 steps from each state" in said


def test_a_refusal_is_told_from_a_crash(command: Command) -> None:
    status, said, rows = command("Picky")
    assert status == 0
    assert "Crashed" not in said
    assert {row["found"] for row in rows} == {"exact", "not checked"}
    status, said, rows = command("Clumsy")
    assert status == CRASHED
    found = {row["space"]: (row["found"], row["crash"], row["left_out"]) for row in rows}
    assert found["ordinal 5^2"] == ("CRASHED", "ValueError: cannot reshape", "")
    assert found["categorical 3^2"][::2] == ("CRASHED", "")
    assert found["categorical 3^2"][1].startswith("ValueError: Clumsy.step fails: KeyError: 'levels' (")
    assert found["binary 2^3"] == ("exact", "", "")
    assert "Crashed on ordinal 5^2 (ValueError: cannot reshape): Clumsy." in said
    assert "Crashed: Clumsy." in said


def test_a_crash_everywhere_is_a_crash_and_a_false_claim_comes_first(command: Command) -> None:
    status, said, rows = command("Broken", "target=bernoulli4")
    assert status == CRASHED
    assert [(row["found"], row["crash"]) for row in rows] == [("CRASHED", "IndexError")]
    assert "could not be checked" not in said
    assert command("FalseAndClumsy", "sampler.step_size=1.0")[0] == 1


def test_the_traceback_of_a_crash_is_there_for_the_asking(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(IndexError):
        command("Broken", "target=bernoulli4")


def test_a_long_message_is_cut() -> None:
    said = crash(RuntimeError("x" * 1_000))
    assert said.startswith("RuntimeError: xxx")
    assert len(said) == LONGEST + len("...")


@pytest.mark.slow
def test_every_sampler_of_the_suite_is_what_it_claims_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole page, with a tenth of the draws: false alarm 2e-4, as the page says."""
    assert main([f"output_root={tmp_path}"], 10_000) == 0
    said = capsys.readouterr().out
    assert "Crashed" not in said
    assert "NOT EXACT" not in said
