"""`python -m runner.exactness`: every sampler found, every false claim caught, one's own sampler included."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import stationary, total_variation, transition_matrix
from runner.execution.command_line import reported
from runner.tools.exactness.distances import LIMIT, Distance, distance
from runner.tools.exactness.enumerable_targets import SPACES, log_quadratic, small_rbm
from runner.tools.exactness.exactness_command import main
from runner.tools.exactness.exactness_page import exactness_summary, exactness_verdict, unproved
from runner.tools.exactness.kernel_variants import KernelVariant, variants
from runner.tools.exactness.not_enumerable import AUXILIARY, REAL
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.kernel import Info, Kernel, State
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from targets.randomness import Generator
from targets.spaces import Binary
from targets.synthetic.tabulated import Tabulated
from targets.target import Target
from tests.support.mutants import KERNEL_MUTANTS

ROOT = Path(__file__).parents[3]
TARGET = log_quadratic(Binary(3))
FEW = 2_000


class OneAcceptance(Gibbs):
    """Gibbs that says how many of all chains moved, in place of each."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        return after, replace(info, acceptance=info.acceptance.mean())


def test_a_step_that_returns_another_shape_is_not_proved() -> None:
    found = distance([KernelVariant("one acceptance", OneAcceptance())], "bits", TARGET, FEW)
    assert found.checked == 0
    assert "must give Info.acceptance as a tensor of shape (1, 2), not shape ()" in found.crash


OWN = """
import torch
from samplers.discrete.dula import DULA
from samplers.kernel import Info, Kernel, evaluate
from samplers.continuous.mala import MALA
from targets.randomness import uniform


class Flip(Kernel):
    \"\"\"Heat bath on one coordinate, like Gibbs: no proposal, so it gives log_transition.\"\"\"

    exact = True

    def __init__(self, site=0, temper=True):
        self.site, self.temper = site, temper

    def check(self, target):
        if target.space.levels != 2:
            raise ValueError("flip needs a binary space")

    def init(self, target, theta, beta):
        return evaluate(target, theta, gradient=False)

    def on(self, target, theta, beta):
        lit, dark = theta.clone(), theta.clone()
        lit[..., self.site], dark[..., self.site] = 1, 0
        scale = beta if self.temper else 1.0
        return torch.sigmoid(scale * (target.log_prob(lit) - target.log_prob(dark)))

    def step(self, target, state, beta, generator):
        p = self.on(target, state.theta, beta)
        theta = state.theta.clone()
        theta[..., self.site] = (uniform(generator, p.shape, like=p) < p).to(theta)
        one = torch.ones_like(p)
        return evaluate(target, theta, gradient=False), Info(one, one, 2)

    def log_transition(self, target, source, destination, beta):
        p = self.on(target, source.theta, beta)
        differs = source.theta != destination
        differs[..., self.site] = False
        log = torch.where(destination[..., self.site] == 1, p, 1 - p).log()
        return log.masked_fill(differs.any(-1), -torch.inf)


class Leaving(Flip):
    \"\"\"Flip, whose log_transition forgets the probability of staying.\"\"\"

    def log_transition(self, target, source, destination, beta):
        stays = (source.theta == destination).all(-1)
        return super().log_transition(target, source, destination, beta).masked_fill(stays, -torch.inf)


class Silent(Kernel):
    exact = True

    def init(self, target, theta, beta):
        return evaluate(target, theta, gradient=False)

    def step(self, target, state, beta, generator):
        return state, Info(torch.ones_like(state.log_prob), torch.zeros_like(state.log_prob), 0)


class Carrier(Silent):
    @property
    def persistent_aux(self):
        return ("momentum",)


class Boasting(DULA):
    exact = True


class Drifting(MALA):
    pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package outside the tree."""
    (tmp_path / "elsewhere.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "elsewhere", raising=False)
    return f"output_root={tmp_path}"


def groups(*arguments: str) -> dict[str, list[KernelVariant]]:
    """The variants that `arguments` choose, by name."""
    found: dict[str, list[KernelVariant]] = {}
    for variant in variants(list(arguments)):
        found.setdefault(variant.name, []).append(variant)
    return found


def distance_of(kernel: Kernel, target: Target = TARGET) -> Distance:
    return distance([KernelVariant("one", kernel)], "binary", target, FEW)


def test_every_sampler_of_the_suite_is_found() -> None:
    names = {variant.name for variant in variants([])}
    files = {path.stem for path in (ROOT / "conf" / "sampler").glob("*.yaml")}
    assert {name.split(",")[0].split(" (")[0] for name in names} == files
    for kernel, replicas in product(("pt_dmala", "pt_dula", "pt_gibbs", "pt_rbm_gibbs"), (2, 3)):
        assert {f"{kernel}, {replicas} replicas, {pairing}" for pairing in PAIRINGS} <= names
    assert "gibbs (scan=systematic)" in names


@pytest.mark.parametrize("name", ["dmala", "acs", "random_walk"])
def test_exact_samplers_are_found_exact(name: str) -> None:
    for space, states in SPACES.items():
        found = distance(variants([f"sampler={name}"]), space, log_quadratic(states), FEW)
        assert found.claimed
        assert found.checked >= 6
        assert found.error <= LIMIT
        assert exactness_verdict(found) == "exact"


@pytest.mark.parametrize(
    ("name", "kernels", "matrices"),
    [("pt_gibbs", [f"pt_gibbs, {k} replicas, {p}" for k in (2, 3) for p in PAIRINGS], 2),
     ("st_dmala", ["st_dmala, 2 levels", "st_dmala, 3 levels"], 4)],
)  # fmt: skip
def test_tempering_is_checked_on_its_product_space(name: str, kernels: list[str], matrices: int) -> None:
    """Even and odd rounds; for levels, partition functions even and wrong, step sizes equal and unequal."""
    found = groups(f"sampler={name}")
    assert sorted(found) == sorted(kernels)
    for group in found.values():
        one = distance(group, "binary", TARGET, FEW)
        assert (one.checked, exactness_verdict(one)) == (matrices, "exact")


@pytest.mark.parametrize("name", ["rbm_gibbs", "pt_rbm_gibbs", "dmala"])
def test_samplers_are_checked_on_a_restricted_boltzmann_machine(name: str) -> None:
    for group in groups(f"sampler={name}").values():
        assert exactness_verdict(distance(group, "RBM", small_rbm(), FEW)) == "exact"
        if "rbm" in name:
            assert "restricted Boltzmann machine" in distance(group, "binary", TARGET, FEW).left_out


def test_the_bias_of_an_inexact_sampler_is_that_of_its_own_distribution() -> None:
    found = distance_of(DULA(1.0))
    biases = []
    for beta in (1.0, 0.5, 0.1):
        pi = (beta * TARGET.log_prob(TARGET.space.states())).softmax(-1)
        biases.append(total_variation(stationary(transition_matrix(DULA(1.0), TARGET, beta)), pi))
    assert found.bias == pytest.approx((min(biases), max(biases)))
    assert not found.claimed
    assert not found.fails
    assert exactness_verdict(found).startswith("inexact")


def test_a_mark_is_explained_where_it_stands() -> None:
    for kernel, marked in ((DULA(1.0), True), (Gibbs(), False)):
        assert ("†" in exactness_summary([distance_of(kernel)], FEW)[0]) == marked


CORNER = Tabulated(Binary(2), torch.tensor([0.0, 0.7, 0.2, -torch.inf]), torch.ones((4, 2)))


def test_an_unadjusted_sampler_steps_as_enumerated_where_states_have_density_zero() -> None:
    found = distance([KernelVariant("dula", DULA(0.8))], "corner", CORNER, FEW)
    assert found.p_value > 1e-6
    assert exactness_verdict(found).startswith("inexact")


def test_ladders_are_checked_on_targets_with_states_of_density_zero() -> None:
    levels = SimulatedTempering(Gibbs(), ladder=[1.0, 0.0], log_partition=[0.0, 0.0])
    for ladder in (ParallelTempering(Gibbs(), ladder=[1.0, 0.0]), levels):
        found = distance([KernelVariant("ladder", ladder)], "corner", CORNER, FEW)
        assert (found.checked, exactness_verdict(found)) == (2 if ladder is not levels else 1, "exact")


def test_all_positions_of_a_cycle_are_checked() -> None:
    assert distance_of(Gibbs("systematic")).checked == 3 * 3


def test_a_false_claim_fails() -> None:
    for name in ("acceptance without beta", "reverse proposal scaled twice", "missing reverse term"):
        kernel = KERNEL_MUTANTS[name]()
        assert kernel.exact
        assert exactness_verdict(distance_of(kernel)) == "NOT EXACT: moves the target", name
    boasting = SimulatedTempering(DULA(1.0), ladder=[1.0, 0.4], log_partition=[0.0, 0.0])
    bias = distance_of(boasting).bias
    assert bias is not None
    assert bias[0] > 0.01
    boasting.exact = True
    assert distance_of(boasting).fails


def test_a_claim_is_not_saved_by_a_density_that_is_nan() -> None:
    class Nan(Target):
        space = Binary(2)

        def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
            return theta.sum(-1) * torch.nan

    assert distance_of(DMALA(1.0), Nan()).fails


def test_the_command_checks_a_sampler_of_ones_own(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([own, "sampler._target_=elsewhere.Flip", "sampler.site=1"], FEW) == 0
    said = capsys.readouterr().out
    assert "Flip" in said
    assert "flip needs a binary space" in said
    folder = Path(own.split("=", 1)[1]) / "exactness"
    rows = list(csv.DictReader((folder / "exactness.csv").read_text().splitlines()))
    assert [row["found"] for row in rows] == [
        *("exact", *["not checked"] * 3, "exact", "not checked"),
        *("exact", "not checked"),
    ]
    assert main([own, "sampler._target_=elsewhere.Flip", "sampler.temper=false"], FEW) == 1
    assert "The claim fails: Flip" in capsys.readouterr().out
    assert (
        main([own, "sampler._target_=elsewhere.Boasting", "sampler.step_size=1.0", "target=bernoulli4"], FEW)
        == 1
    )


def test_rows_that_do_not_sum_to_one_are_told_from_a_kernel_that_moves_the_target(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([own, "sampler._target_=elsewhere.Leaving", "target=bernoulli4"], FEW) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "NOT EXACT: rows of P do not sum to 1" in said
    assert "log_transition must give the probability of staying too: Leaving." in said
    assert "moves the target" not in said
    assert "The claim fails" not in said


def test_where_nothing_could_be_checked_the_summary_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sampler=ula", "target=bernoulli4", f"output_root={tmp_path}"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"Not checked on bernoulli4 ({REAL}): ula. Nothing was checked: no transition matrix" in said
    assert "0 of 0" not in said
    assert "matrices" not in said


@pytest.mark.parametrize("kernel", ["Silent", "Carrier", "Drifting"])
def test_a_claim_that_cannot_be_checked_does_not_pass(
    kernel: str, own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel on the reals of one's own, too: of our own it is known how they are tested instead."""
    step_size = ["sampler.step_size=1.0"] if kernel == "Drifting" else []
    assert main([own, f"sampler._target_=elsewhere.{kernel}", *step_size, "target=bernoulli4"], FEW) == 1
    said = capsys.readouterr().out
    assert "Not checked on bernoulli4" in said
    assert "ordinal" not in said
    assert f"Claimed but not checked on any space: {kernel}" in said
    assert ("neither by a proposal nor by log_transition" in " ".join(said.split())) is (kernel != "Drifting")
    assert f"{kernel}, for the reasons above." in said
    assert unproved([distance_of(Gibbs())]) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sampler=dmalla"], "did you mean 'dmala'"),
        (["sampler=dmala", "sampler.stepsize=1"], "Unknown key 'sampler.stepsize'"),
        (["sampler=dmala", "sampler.step_size=0"], "step_size must be a positive number"),
        (["target=mog"], "has 10,201 states, too many to enumerate: give it a smaller space, of at most 1,"),
        (["fast"], "key=value"),
        (
            ["sampler=gibbs,dmala"],
            "'sampler=gibbs,dmala' is a sweep, and this command checks one sampler, or",
        ),
        (["sampler=dmala", "target=gaussian_mixture"], "no states to enumerate: its space is Real(d=2)."),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reported(lambda: main([*arguments, f"output_root={tmp_path}"])) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_sampler_that_cannot_be_enumerated_has_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, reason in (("edmala", AUXILIARY), ("ula", REAL), ("stmh", REAL), ("reld", REAL)):
        step_size = ["sampler.step_size=1.0"] if name == "edmala" else []
        found = distance(variants([f"sampler={name}", *step_size]), "RBM", small_rbm())
        assert found.left_out == reason
        assert unproved([found]) == []
    assert main(["sampler=mala", f"output_root={tmp_path}"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"Not checked on RBM 2^3 ({REAL}): mala" in printed
