"""The task spectral_gap on the command line: kernels by enumeration, diffusions on a grid, and refusals."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib import pyplot
from omegaconf import OmegaConf

from runner.config.compose import compose, power
from runner.report.analysis.growth import growing
from runner.report.analysis.table_entries import Summary
from runner.report.draw_figures import draw_figure
from runner.report.experiment_shape import experiment_shape
from runner.report.page.legend import legend
from runner.report.runs.experiment_run import Run
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.table_shape import table_shape
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs
from runner.tasks.run_identity import run_ids
from tests.support.commands import Call, assert_refused, measured, refusal, summary

SINGULAR = ("task=spectral_gap", "target=singular_mixture", "target.epsilon=0.3")
BERNOULLI = ("task=spectral_gap", "target=bernoulli4", "sampler=gibbs")


def result(call: Call, *argv: str) -> dict[str, float]:
    """What the one run of a command measured, in an output root of its own."""
    root = f"outputs{len(list(Path().iterdir()))}"
    ended = call(*argv, f"output_root={root}")
    assert ended.status == 0, ended.err
    return measured(root)


def test_kernels_on_a_small_target(call: Call) -> None:
    gibbs = result(call, *BERNOULLI)
    about = summary("outputs0")
    assert (about["sampler"], about["exact"]) == ("gibbs", True)
    assert (gibbs["states"], gibbs["reversible"]) == (16, 1)
    assert gibbs["inverse_gap"] == pytest.approx(1 / gibbs["spectral_gap"])
    assert gibbs["mixing_time"] <= gibbs["mixing_time_bound"]
    assert 1 < gibbs["autocorrelation_time"] <= gibbs["autocorrelation_time_bound"]
    assert gibbs["autocorrelation_time_bound"] == pytest.approx(2 * gibbs["inverse_gap"] - 1)
    # Random scan: its eigenvalues are not negative, so modulus and gap are one.
    assert gibbs["second_modulus"] == pytest.approx(1 - gibbs["spectral_gap"], abs=1e-9)
    # A systematic scan is measured in steps of the kernel.
    scan = result(call, *BERNOULLI, "sampler.scan=systematic")
    assert scan["reversible"] == 0
    assert scan["mixing_time"] % 4 == 0
    assert scan["second_modulus"] < 1
    ladder = ("sampler=pt_dmala", "sampler.ladder=[1.0,0.3]", "sampler.step_size=0.5")
    tempered = result(call, *BERNOULLI[:2], *ladder)
    assert tempered["states"] == 256
    assert tempered["spectral_gap"] > 0


def test_the_anchors_of_reld(call: Call) -> None:
    ld = result(call, *SINGULAR, "task.method=ld", "task.grid=801")
    assert summary("outputs0")["sampler"] == "ld"
    assert ld["inverse_gap"] == pytest.approx(15.8, abs=0.05)
    scaled = [f"task.{key}='${{power:${{target.epsilon}},-1}}'" for key in ("tau", "rho")]
    for reference in ("phi", "tempered"):
        how = ("task.method=reld", f"task.reference={reference}", "task.grid=121", *scaled)
        reld = result(call, *SINGULAR, *how)
        assert 1.0 < reld["inverse_gap"] < 1.2
        assert reld["rho"] == pytest.approx(1 / 0.3)
        assert reld["inverse_gap_error"] < 0.01
    how = ("task.method=mreld", "task.length=0.3", "task.levels=1", "task.grid=81")
    assert result(call, *SINGULAR, *how)["inverse_gap"] == pytest.approx(1.02, abs=0.01)


def test_what_theory_says_stands_beside(call: Call) -> None:
    narrow, theory = (*SINGULAR[:2], "target.epsilon=0.1"), ("task.length=0.1", "task.distance=2.0")
    ld = result(call, *narrow, "task.method=ld", "task.grid=1201")["inverse_gap"]
    bound, barrier = (
        result(call, *narrow, *theory, f"task.method={method}")["inverse_gap"]
        for method in ("proposition1", "barrier")
    )
    assert bound <= ld
    assert barrier == pytest.approx(ld, rel=0.02)


def test_the_sampler_is_no_part_of_a_diffusions_run() -> None:
    ids = [
        run_ids(compose([*SINGULAR, f"task.method={method}", *more]), "cpu", [0])
        for method in ("ld", "kernel")
        for more in (["sampler=dmala"], ["sampler=gibbs", "metric=[acceptance]"])
    ]
    assert ids[0] == ids[1] != ids[2] != ids[3]


def test_gaps_within_modes_levels_and_lists(call: Call) -> None:
    listed = result(call, *BERNOULLI, "sampler.scan=random", "task.restrict=[[0,0,0,0],[0,0,0,1]]")
    # Two states that differ in one coordinate, chosen with probability 1/4: a flow of m b / (4 (m + b)) over
    # a variance of m b, m and b the masses.
    assert listed["restricted_gap_states"] == pytest.approx(0.25 / listed["restricted_mass_states"])
    levels = ("sampler=st_dmala", "sampler.ladder=[1.0,0.3]", "sampler.step_size=[0.5,0.9]")
    held = result(call, *BERNOULLI[:2], *levels, "task.restrict=level")
    assert sum(held[f"restricted_mass_level_{level}"] for level in (0, 1)) == pytest.approx(1.0)
    assert held["restricted_inverse_gap_level_1"] == pytest.approx(1 / held["restricted_gap_level_1"])
    # The hot level alone is faster than the whole, over the mass it has.
    assert held["restricted_gap_level_1"] > held["spectral_gap"]
    grid = (*SINGULAR, "task.method=ld", "task.grid=201")
    cells = result(call, *grid, "task.restrict=mode")
    for mode in (0, 1):
        assert cells[f"restricted_gap_mode_{mode}"] == pytest.approx(2 / 0.09, rel=0.01)
        assert cells[f"restricted_mass_mode_{mode}"] == pytest.approx(0.5, abs=0.001)
    ball = result(call, *grid, "task.restrict=ball", "task.radius=1.5")
    assert 0.9 < ball["restricted_mass_ball"] < 1


def test_mixing_times_stand_beside_those_of_the_gap(call: Call) -> None:
    found = result(call, *SINGULAR, "task.method=ld", "task.grid=401")
    # From one of two modes, of which the other holds half.
    assert found["mixing_time_from_heaviest"] == pytest.approx(found["inverse_gap"] * math.log(2), rel=0.02)
    assert found["mixing_time_from_heaviest"] <= found["mixing_time_from_heaviest_bound"]
    swaps = ("task.method=reld", "task.tau=3", "task.rho=3")
    small = result(call, *SINGULAR, *swaps, "task.grid=31")
    assert small["mixing_time_from_heaviest"] <= small["mixing_time_from_heaviest_bound"]
    large = result(call, *SINGULAR, *swaps, "task.grid=61")
    assert large["mixing_time_from_heaviest"] is None
    assert large["mixing_time_from_heaviest_bound"] > 0


REFUSED = [
    ("task.method=lld", "task.method must be one of"),
    ("task.method=reld task.tau=0", "task.tau must be a positive number, 0 was given."),
    ("task.method=reld task.reference=normal", "task.reference must be one of phi, tempered"),
    ("task.method=ld task.grid=2.5", "task.grid must be a whole number of at least 9, 2.5 was given."),
    ("task.method=mreld", "task.length must be a positive number, None was given."),
    ("task.method=proposition1 task.length=0.3 task.distance=2", "needs a length of at most 0.125"),
    ("target.d=3 task.method=ld", "a grid needs a target in one or two dimensions, this one has 3."),
    ("target.d=2 task.method=reld", "GiB, more than memory=8; grid="),
    ("sampler=random_walk", "only discrete spaces can be enumerated"),
    ("task.method=ld task.restrict=cell", "task.restrict must be one of ball, level, mode, 'cell' was"),
    ("task.method=ld task.restrict=ball", "task.radius must be a positive number, None was given."),
    ("task.method=ld task.restrict=level", "task.restrict must be mode or ball for method=ld"),
    ("task.method=ld task.restrict=[[0.5]]", "task.restrict must be mode or ball on"),
    ("task.method=barrier task.restrict=mode", "task.restrict must be null for method=barrier"),
]
SUBSETS = [
    ("task.restrict=level", "task.restrict=level needs simulated tempering, Gibbs has one level."),
    ("task.restrict=[[0,1]]", "task.restrict must list states of "),
    ("target=mog", "states are too many to enumerate with memory=8 GiB: "),
]


def test_what_cannot_be_is_refused_before_any_matrix_is_built() -> None:
    assert_refused(SINGULAR, REFUSED)
    assert_refused(BERNOULLI, SUBSETS)


@functools.cache
def jobs_at(experiment: str, scale: str) -> list[Job]:
    return experiment_jobs(experiment, [f"scale={scale}"])


def test_a_power_in_the_configuration_follows_its_key() -> None:
    assert power(0.5, -2) == 4.0
    assert power("wide", -2) == "wide"
    assert power(-1.0, 0.5) == -1.0
    (config,) = [
        job.config
        for job in jobs_at("reld_theorem1", "smoke")
        if job.row == "ReLD, phi, d = 2" and job.config.target.epsilon == 0.4
    ]
    assert config.task.tau == config.task.rho == pytest.approx(0.4**-2)
    assert config.task.grid == 13


@pytest.mark.parametrize("experiment", ["reld_theorem1", "reld_proposition1"])
def test_sweep_and_table_of_reld_fit(experiment: str, tmp_path: Path) -> None:
    shape = experiment_shape(experiment)
    results = gather(experiment, shape, jobs_at(experiment, "smoke"), Store(tmp_path))
    assert {run.row for run in results.runs} == {row.row for row in shape.rows}
    assert {run.seed for run in results.runs} == {0}
    # At least a factor 4 in epsilon in one dimension.
    widths = [run.config.target.epsilon for run in results.runs if run.row == "LD"]
    assert max(widths) / min(widths) >= 4


OURS = {
    1: "Ours: one seed, without an interval or a test.",
    2: "Ours: mean ± half the width of the 95 % t interval over n = 2 seeds.",
}
TITLES = {0: "", 1: "one seed", 2: "mean and 95 % interval over seeds"}


@pytest.mark.parametrize(
    ("experiment", "seeds"), [("reld_proposition1", 0), ("stmh_table1", 1), ("stmh_table1", 2)]
)
def test_what_is_not_random_is_not_averaged(experiment: str, seeds: int, tmp_path: Path) -> None:
    """No word of seeds, or of an interval over them, in the table and in the figure, where there are none."""
    shape = experiment_shape(experiment)
    alone = gather(experiment, shape, jobs_at(experiment, "smoke"), Store(tmp_path)).runs
    again = tuple(replace(run, seed=1) for run in alone) if seeds == 2 else ()
    results = Results((*alone, *again))
    assert results.seeds == seeds
    ours = [line for line in legend(shape, Summary([]), results.seeds) if line.startswith("Ours")]
    assert ours == ([] if seeds == 0 else [OURS[seeds]])
    page = draw_figure(shape.figures[0], shape, results)
    assert page.legends[0].get_title().get_text() == TITLES[seeds]
    pyplot.close(page)


def test_an_exponential_growth_is_fitted_as_one() -> None:
    block = {
        "title": "t",
        "caption": "c",
        "rows": [{"row": "A"}],
        "columns": [{"label": str(e), "where": {"target.epsilon": e}} for e in (0.5, 0.25, 0.2)],
        "metrics": [{"metric": "kappa", "name": "kappa", "direction": "none"}],
        "growths": [
            {"metric": "kappa", "x": "target.epsilon", "symbol": "eps", "power": -2, "exponential": True}
        ],
    }
    shape = table_shape("made", OmegaConf.create(block))
    runs = [
        Run("A", str(e), 0, str(e), "done", OmegaConf.create({"target": {"epsilon": e}}), summary, None)  # type: ignore[arg-type]
        for e in (0.5, 0.25, 0.2)
        for summary in [{"metrics": {"kappa": 3 * math.exp(0.4 / e**2)}, "seconds": 1.0, "steps": 0}]
    ]
    (said,) = growing(shape, Results(tuple(runs)))
    assert said.startswith("kappa, A: grows as exp(p eps^-2) with p = 0.40 (95 % interval 0.40 to 0.40)")
    assert said.endswith("1.000 against eps^-2.")


UNREAD = [
    ("task.method=ld task.tau=5", "task.tau", "only task.method=reld reads it"),
    ("task.method=mreld task.length=0.3 task.rho=50", "task.rho", "only task.method=reld reads it"),
    ("task.method=ld task.scale=2", "task.scale", "only task.method=mreld or reld reads it"),
    ("task.method=reld task.levels=3", "task.levels", "only task.method=mreld reads it"),
    ("task.method=ld task.radius=2", "task.radius", "only task.restrict=ball reads it"),
    ("task.method=ld sampler.step_size=2", "sampler.step_size", "task.method=ld has no sampler"),
    (
        "task.method=mreld task.length=0.3 task.choice=synchronised task.alpha=1",
        "task.alpha",
        "only task.choice=geometric reads it",
    ),
    (
        "task.method=barrier task.length=0.3 task.distance=2 task.grid=99",
        "task.grid",
        "only task.method=ld or mreld or reld reads it",
    ),
]


def test_keys_that_a_method_does_not_read_are_refused() -> None:
    """Each value was a run of its own, and a row of the same numbers."""
    for given, key, why in UNREAD:
        said = refusal(*SINGULAR, "sampler=mala", *given.split())
        assert said.startswith(f"{key} must be left out, since {why}; "), said
    assert refusal("-m", *SINGULAR, "task.method=ld", "task.tau=1,5,9").startswith(
        "task.tau must be left out"
    )
    assert refusal("-m", *SINGULAR, "task.method=ld,barrier", "task.tau=1,5").startswith(
        "task.tau must be left"
    )


def test_theory_is_for_the_two_modes_that_the_target_has() -> None:
    two = "task.length=0.1 task.distance=2 target=gaussian_mixture target.covariance=0.01"
    needs = "needs a mixture of two equal Gaussians, such as singular_mixture."
    assert_refused(
        ("task=spectral_gap",),
        [
            (f"task.method=barrier {two} target.means=[[0]]", f"method=barrier {needs}"),
            (f"task.method=proposition1 {two} target.means=[[-1],[0],[1]]", f"method=proposition1 {needs}"),
            (f"task.method=barrier {two} target.means=[[-1],[1]] target.weights=[0.3,0.7]", needs),
            (f"task.method=barrier {two} target.means=[[-2],[2]]", "task.distance must be 4, as that of"),
            (
                "task.method=barrier task.length=0.1 task.distance=2 target=singular_mixture",
                "task.length must be",
            ),
        ],
    )
