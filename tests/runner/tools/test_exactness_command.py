"""`python -m runner.exactness`: every sampler found, every false claim caught, one's own sampler included."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
import torch

from metrics.enumeration.transition_matrix import stationary, total_variation, transition_matrix
from runner.execution.command_line import reported
from runner.tools.exactness.distances import LIMIT, distance
from runner.tools.exactness.enumerable_targets import SPACES, log_quadratic, small_rbm
from runner.tools.exactness.exactness_command import main
from runner.tools.exactness.exactness_page import unproved, verdict
from runner.tools.exactness.kernel_variants import KernelVariant, variants
from runner.tools.exactness.not_enumerable import AUXILIARY, REAL
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from targets.spaces import Binary
from targets.target import Target
from tests.support.mutants import KERNEL_MUTANTS

ROOT = Path(__file__).parents[3]
TARGET = log_quadratic(Binary(3))

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

    def init(self, target, theta, beta):
        if target.space.levels != 2:
            raise ValueError("flip needs a binary space")
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


def test_every_sampler_of_the_suite_is_found() -> None:
    names = {variant.name for variant in variants([])}
    files = {path.stem for path in (ROOT / "conf" / "sampler").glob("*.yaml")}
    assert {name.split(",")[0].split(" (")[0] for name in names} == files
    for kernel in ("pt_dmala", "pt_dula", "pt_gibbs", "pt_rbm_gibbs"):
        for replicas in (2, 3):
            assert {f"{kernel}, {replicas} replicas, {pairing}" for pairing in PAIRINGS} <= names
    assert "gibbs (scan=systematic)" in names


@pytest.mark.parametrize("name", ["dmala", "acs", "random_walk"])
@pytest.mark.parametrize("space", SPACES)
def test_exact_samplers_are_found_exact(name: str, space: str) -> None:
    found = distance(variants([f"sampler={name}"]), space, log_quadratic(SPACES[space]))
    assert found.claimed
    assert found.checked >= 6
    assert found.error <= LIMIT
    assert verdict(found) == "exact"


def test_tempering_is_checked_on_its_product_space() -> None:
    groups: dict[str, list[KernelVariant]] = {}
    for variant in variants(["sampler=pt_gibbs"]):
        groups.setdefault(variant.name, []).append(variant)
    assert len(groups) == 6
    for group in groups.values():
        found = distance(group, "binary", TARGET)
        assert found.checked == 2
        assert verdict(found) == "exact"


@pytest.mark.parametrize("name", ["rbm_gibbs", "pt_rbm_gibbs", "dmala"])
def test_samplers_are_checked_on_a_restricted_boltzmann_machine(name: str) -> None:
    groups: dict[str, list[KernelVariant]] = {}
    for variant in variants([f"sampler={name}"]):
        groups.setdefault(variant.name, []).append(variant)
    for group in groups.values():
        assert verdict(distance(group, "RBM", small_rbm())) == "exact"
        if "rbm" in name:
            assert "restricted Boltzmann machine" in distance(group, "binary", TARGET).left_out


def test_the_bias_of_an_inexact_sampler_is_that_of_its_own_distribution() -> None:
    found = distance([KernelVariant("dula", DULA(1.0))], "binary", TARGET)
    biases = []
    for beta in (1.0, 0.5, 0.1):
        law = (beta * TARGET.log_prob(TARGET.space.states())).softmax(-1)
        biases.append(total_variation(stationary(transition_matrix(DULA(1.0), TARGET, beta)), law))
    assert found.bias == pytest.approx((min(biases), max(biases)))
    assert not found.claimed
    assert not found.fails
    assert verdict(found).startswith("inexact")


def test_all_positions_of_a_cycle_are_checked() -> None:
    found = distance([KernelVariant("gibbs", Gibbs("systematic"))], "binary", TARGET)
    assert found.checked == 3 * 3


@pytest.mark.parametrize(
    "name", ["acceptance without beta", "reverse proposal scaled twice", "missing reverse term"]
)
def test_a_false_claim_fails(name: str) -> None:
    kernel = KERNEL_MUTANTS[name]()
    assert kernel.exact
    found = distance([KernelVariant("mutant", kernel)], "binary", TARGET)
    assert found.fails
    assert verdict(found) == "CLAIM FAILS"


def test_a_claim_is_not_saved_by_a_density_that_is_nan() -> None:
    class Nan(Target):
        space = Binary(2)

        def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
            return theta.sum(-1) * torch.nan

    found = distance([KernelVariant("dmala", DMALA(1.0))], "binary", Nan())
    assert found.fails


def test_the_command_checks_a_sampler_of_ones_own(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([own, "sampler._target_=elsewhere.Flip", "sampler.site=1"]) == 0
    said = capsys.readouterr().out
    assert "Flip" in said
    assert "flip needs a binary space" in said
    folder = Path(own.split("=", 1)[1]) / "exactness"
    rows = list(csv.DictReader((folder / "exactness.csv").read_text().splitlines()))
    assert [row["found"] for row in rows] == ["exact", *["not checked"] * 3, "exact", "not checked"]
    assert main([own, "sampler._target_=elsewhere.Flip", "sampler.temper=false"]) == 1
    assert "The claim fails: Flip" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["Silent", "Carrier"])
def test_a_claim_that_cannot_be_checked_does_not_pass(
    kernel: str, own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([own, f"sampler._target_=elsewhere.{kernel}"]) == 1
    said = capsys.readouterr().out
    assert f"Claimed but not checked on any space: {kernel}" in said
    assert "log_transition" in said
    found = distance([KernelVariant("Silent", Gibbs())], "binary", TARGET)
    assert unproved([found]) == []


def test_an_unadjusted_sampler_that_boasts_is_caught(own: str) -> None:
    assert main([own, "sampler._target_=elsewhere.Boasting", "sampler.step_size=1.0"]) == 1


def test_another_target_takes_the_place_of_the_small_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"output_root={tmp_path}", "sampler=dmala", "target=bernoulli4"]) == 0
    said = capsys.readouterr().out
    assert "bernoulli4" in said
    assert "ordinal" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sampler=dmalla"], "did you mean 'dmala'"),
        (["sampler=dmala", "sampler.stepsize=1"], "Unknown key 'sampler.stepsize'"),
        (["sampler=dmala", "sampler.step_size=0"], "step_size must be a positive number"),
        (["target=mog"], "too many states"),
        (["fast"], "key=value"),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reported(lambda: main([*arguments, f"output_root={tmp_path}"])) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "reason"), [("edmala", AUXILIARY), ("mala", REAL), ("ula", REAL), ("stmh", REAL), ("reld", REAL)]
)
def test_a_sampler_that_cannot_be_enumerated_has_its_reason(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step_size = ["sampler.step_size=1.0"] if name == "edmala" else []
    assert main([f"sampler={name}", *step_size, f"output_root={tmp_path}"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"Not checked on RBM 2^3 ({reason}): {name}" in printed


def test_a_sampler_of_ones_own_on_the_reals_has_proved_nothing(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([own, "sampler._target_=elsewhere.Drifting", "sampler.step_size=1.0"]) == 1
    assert "Claimed but not checked on any space: Drifting" in capsys.readouterr().out


def test_a_target_on_the_reals_has_no_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sampler=dmala", "target=gaussian_mixture", f"output_root={tmp_path}"]
    assert reported(lambda: main(command)) == 2
    assert "has no states to enumerate: its space is Real(d=2)." in capsys.readouterr().err


def test_simulated_tempering_is_checked_on_levels_and_states() -> None:
    """Partition functions even and wrong, step sizes equal and unequal: four matrices for each ladder."""
    groups: dict[str, list[KernelVariant]] = {}
    for variant in variants(["sampler=st_dmala"]):
        groups.setdefault(variant.name, []).append(variant)
    assert set(groups) == {"st_dmala, 2 levels", "st_dmala, 3 levels"}
    for group in groups.values():
        found = distance(group, "binary", TARGET)
        assert found.checked == 4
        assert verdict(found) == "exact"


def test_simulated_tempering_around_an_inexact_kernel_is_biased() -> None:
    kernel = SimulatedTempering(DULA(1.0), ladder=[1.0, 0.4], log_partition=[0.0, 0.0])
    found = distance([KernelVariant("st_dula", kernel)], "binary", TARGET)
    assert found.bias is not None
    assert found.bias[0] > 0.01
    boasting = SimulatedTempering(DULA(1.0), ladder=[1.0, 0.4], log_partition=[0.0, 0.0])
    boasting.exact = True
    assert distance([KernelVariant("st_dula", boasting)], "binary", TARGET).fails
