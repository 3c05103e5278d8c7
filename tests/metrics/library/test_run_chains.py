"""Chains in one call: the draws are those of the runner, the diagnostics those of metrics and of ArviZ."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import metrics
import samplers
import targets
from metrics import run_chains
from runner.__main__ import main
from samplers import (
    DMALA,
    MALA,
    ULA,
    GaussianWalk,
    Gibbs,
    Info,
    Kernel,
    ParallelTempering,
    ReplicaExchangeLangevin,
    SimulatedAnnealing,
    SimulatedTempering,
    State,
)
from targets import Bernoulli4, MixtureOfGaussians, Real, Target
from targets.randomness import Generator

STEPS, BURN_IN, CHAINS, SEED = 100, 20, 4, 3
MET = r"^the log density of Edge, or its gradient, was NaN or infinite in [1-4] of 4 chains within 300 steps$"


@pytest.mark.parametrize("tempered", [False, True], ids=["dmala", "pt_dmala"])
def test_draws_and_diagnostics_equal_those_of_the_runner(tmp_path: Path, tempered: bool) -> None:
    sampler = ["sampler=dmala", "sampler.step_size=20.0"]
    kernel: DMALA | ParallelTempering = DMALA(20.0)
    if tempered:
        sampler = ["sampler=pt_dmala", "sampler.ladder=[1.0,0.5]", "sampler.step_size=[20.0,40.0]"]
        kernel = ParallelTempering(DMALA(20.0), ladder=[1.0, 0.5], step_size=[20.0, 40.0])
    numbers = [f"task.steps={STEPS}", f"task.burn_in={BURN_IN}", f"task.chains={CHAINS}", f"seed={SEED}"]
    place = [f"output_root={tmp_path}", "dtype=float64"]
    assert main(["target=mog", *sampler, *numbers, *place]) == 0
    (table,) = tmp_path.glob("runs/*/metrics.csv")
    with table.open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["step"]) == STEPS]
    measured = {row["metric"]: float(row["value"]) for row in rows}

    target = MixtureOfGaussians(8)
    found = run_chains(target, kernel, CHAINS, STEPS, BURN_IN, seed=SEED)
    assert found.draws.shape == (CHAINS, STEPS - BURN_IN, 2)
    states = torch.from_numpy(found.draws)
    counts = torch.bincount(target.space.index(states).flatten(), minlength=target.space.size)
    tv = (counts.double() / counts.sum() - target.probabilities()).abs().sum() / 2
    assert measured["tv"] == float(tv)
    assert np.array_equal(found.log_prob, target.log_prob(states).numpy())
    diagnostics = found.diagnostics()
    assert diagnostics["ess"] == measured["ess"]
    assert diagnostics["rhat"] == measured["rhat"]
    assert diagnostics["acceptance"] == pytest.approx(measured["acceptance"], rel=1e-12)
    assert found.evaluations[-1] == int(rows[0]["evaluations"])


def test_thinned_draws_are_some_of_all_draws() -> None:
    target, kernel = Bernoulli4(), DMALA(0.5)
    every = run_chains(target, kernel, steps=100, burn_in=10, seed=1)
    some = run_chains(target, kernel, steps=100, burn_in=10, thin=7, seed=1)
    assert np.array_equal(some.draws, every.draws[:, 6::7])
    assert np.array_equal(some.log_prob, every.log_prob[:, 6::7])
    assert np.array_equal(some.evaluations, every.evaluations[6::7])
    blocks = every.acceptance[:, : 12 * 7].reshape(4, 12, 7).mean(-1)
    assert some.acceptance == pytest.approx(blocks, rel=1e-12)
    other = run_chains(target, kernel, steps=100, burn_in=10, seed=2)
    assert not np.array_equal(other.draws, every.draws)


def test_the_acceptance_of_half_precision_is_that_of_all_steps() -> None:
    """Summed in that precision it stood still at 2048 steps."""
    found = run_chains(Bernoulli4().half(), Gibbs(), chains=1, steps=3000, burn_in=0, thin=3000)
    assert (found.acceptance.dtype, float(found.acceptance[0, 0])) == (np.float16, 1.0)


def test_a_dtype_that_numpy_lacks_is_refused_before_the_steps() -> None:
    with pytest.raises(ValueError, match=r"must have a dtype that NumPy has, .* torch.bfloat16 was given$"):
        run_chains(Bernoulli4().bfloat16(), Gibbs(), steps=10**9)


class ColdLast(Kernel):
    """Replicas without swaps, the hot one first."""

    axes = (2,)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return Gibbs().init(target, theta, self._laid(beta))

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = Gibbs().step(target, state, self._laid(beta), generator)
        return after, Info(info.acceptance[-1], info.jump[-1], 2 * info.evaluations)

    def draws(self, state: State) -> Tensor:
        return state.theta[-1]

    def _laid(self, beta: Tensor) -> Tensor:
        return beta * torch.tensor([0.1, 1.0]).reshape(2, 1, 1)


def test_log_densities_are_those_of_the_draws_wherever_they_stand_on_a_ladder() -> None:
    target = Bernoulli4()
    found = run_chains(target, ColdLast(), steps=20)
    assert np.array_equal(found.log_prob, target.log_prob(torch.from_numpy(found.draws)).numpy())
    assert found.diagnostics()["ess"] == found.metrics(["ess"])["ess"]


def test_diagnostics_of_each_coordinate_are_those_of_arviz() -> None:
    from arviz_stats.base import array_stats

    found = run_chains(MixtureOfGaussians(4), DMALA(20.0), steps=200)
    for place in range(2):
        series = found.draws[..., place]
        expected = array_stats.ess(series, chain_axis=0, draw_axis=1, method="bulk")
        assert found.ess()[place] == pytest.approx(float(expected), rel=1e-12)
        scale = array_stats.rhat(series, chain_axis=0, draw_axis=1)
        assert found.rhat()[place] == pytest.approx(float(scale), rel=1e-12)
    groups = found.groups()
    assert {name: set(group) for name, group in groups.items()} == {
        "posterior": {"theta"},
        "sample_stats": {"lp", "acceptance_rate", "evaluations", "jump"},
    }
    assert all(values.shape[:2] == (4, 160) for group in groups.values() for values in group.values())


def test_a_datatree_serves_arviz() -> None:
    pytest.importorskip("arviz_base", reason="needs the extra arviz")
    import arviz_stats

    found = run_chains(MixtureOfGaussians(4), DMALA(20.0), steps=200)
    tree = found.to_arviz()
    assert np.allclose(arviz_stats.ess(tree)["theta"].values, found.ess(), rtol=1e-12)
    assert np.allclose(arviz_stats.rhat(tree)["theta"].values, found.rhat(), rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"chains": 0}, "chains must be a whole number of at least 1, 0 was given"),
        ({"thin": 0}, "thin must be a whole number of at least 1, 0 was given"),
        *(
            (given, f"^burn_in and thin must leave at least one draw of 10 steps, {said} were given$")
            for given, said in (({"burn_in": 10}, "10 and 1"), ({"thin": 20}, "2 and 20"))
        ),
        (
            {"kernel": SimulatedTempering(DMALA(1.0), ladder=[1.0, 0.5], log_partition=[0.0, 0.0])},
            "move betw",
        ),
        (
            {"kernel": SimulatedAnnealing(Gibbs(), steps=10)},
            "^the states of SimulatedAnnealing are no draws from the target, since they depend on its sched",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(given: dict[str, object], sentence: str) -> None:
    arguments = {"target": Bernoulli4(), "kernel": DMALA(0.5), "steps": 10, **given}
    with pytest.raises(ValueError, match=sentence):
        run_chains(**arguments)  # type: ignore[arg-type]


def undefined_beyond(edge: float, value: float) -> Target:
    """A normal density that is `value` beyond `edge`, where no chain starts."""

    class Edge(Target):
        def __init__(self) -> None:
            super().__init__()
            self.space = Real(2)

        def log_prob(self, theta: Tensor) -> Tensor:
            return torch.where((theta > edge).any(-1), value, -theta.square().sum(-1) / 2)

        def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
            return 0.1 * super().initial(shape, generator)

    return Edge()


@pytest.mark.parametrize("tempered", [False, True])
@pytest.mark.parametrize("burn_in", [0, 299, 150])
@pytest.mark.parametrize("kernel", [MALA(0.3), ULA(0.3)])
def test_chains_that_met_nan_are_no_draws(kernel: Kernel, burn_in: int, tempered: bool) -> None:
    """MALA rejects such a state and would stay within the edge; ULA walks over it."""
    kernel = ParallelTempering(kernel, [1.0, 0.5]) if tempered else kernel
    with pytest.raises(ValueError, match=MET):
        run_chains(undefined_beyond(1.5, torch.nan), kernel, steps=300, burn_in=burn_in)
    run_chains(undefined_beyond(50.0, torch.nan), kernel, steps=300, burn_in=burn_in)


HOT = [1.0, 0.02]
"""A cold chain stays within five of the centre, a hot one does not."""


@pytest.mark.parametrize(
    "kernel",
    [
        ParallelTempering(GaussianWalk(0.3), HOT, step_size=[0.3, 6.0]),
        ReplicaExchangeLangevin(MALA(0.3), HOT, step_size=0.1, tau=20.0),
    ],
)
def test_nan_that_a_hot_replica_met_is_an_error(kernel: Kernel) -> None:
    """Such a state is rejected there, so that the cold chain would only be tempered worse."""
    with pytest.raises(ValueError, match=MET):
        run_chains(undefined_beyond(5.0, torch.nan), kernel, steps=300)


@pytest.mark.parametrize(("offset", "dtype"), [(-1e8, "float32"), (-1e16, "float64")])
def test_a_log_density_beyond_its_precision_is_said(offset: float, dtype: str) -> None:
    def normal(theta: Tensor) -> Tensor:
        return offset - theta.square().sum(-1) / 2

    target = targets.FunctionTarget(normal, Real(2)).to(getattr(torch, dtype))
    with pytest.warns(UserWarning, match=rf"^normal: its log density is of size 1.0e.*, where {dtype} tells"):
        run_chains(target, MALA(0.3), steps=20)
    offset /= 1e3
    run_chains(target, MALA(0.3), steps=20)


@pytest.mark.parametrize("thin", [1, 100])
def test_a_chain_at_infinity_is_no_draw(thin: int) -> None:
    with pytest.raises(ValueError, match=MET):
        run_chains(undefined_beyond(1.5, torch.inf), MALA(0.3), steps=300, thin=thin)


@pytest.mark.parametrize("package", [metrics, samplers, targets])
def test_public_names_are_imported_on_demand(package: object) -> None:
    name = package.__name__  # type: ignore[attr-defined]
    for public in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, public).__module__.startswith(f"{name}.")
    with pytest.raises(AttributeError, match=f"No {name} attribute Nothing"):
        _ = package.Nothing  # type: ignore[attr-defined]


def test_importing_the_floors_does_not_import_torch() -> None:
    code = "import sys, metrics, samplers, targets; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_user_s_own_target_in_five_lines() -> None:
    class Normal(targets.Target):
        space = Real(2)

        def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
            return -0.5 * theta.square().sum(-1)

    from samplers.continuous.mala import MALA

    found = run_chains(Normal(), MALA(0.5), chains=50, steps=400)
    assert found.draws.mean() == pytest.approx(0.0, abs=0.2)
    assert found.draws.std() == pytest.approx(1.0, abs=0.2)
    assert (found.rhat() < 1.1).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trace_and_rank_plots_come_from_arviz() -> None:
    """As the page on the library says; the first import is for Matplotlib 3.11, see there."""
    pytest.importorskip("arviz_base", reason="needs the extra arviz")
    importlib.import_module("matplotlib.style.core")

    arviz_plots = pytest.importorskip("arviz_plots", reason="needs the extra arviz")
    arviz_plots.style.use("arviz-variat")
    tree = run_chains(Bernoulli4(), DMALA(0.5), steps=100).to_arviz()
    for plot in (arviz_plots.plot_trace, arviz_plots.plot_rank):
        assert plot(tree, var_names=["theta"], backend="matplotlib").viz["plot"]["theta"].size == 4
