"""`task.keep`: draws that are written for ArviZ, and that cost nothing where they are not asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from metrics.metric import Context
from metrics.statistics.kept_draws import KeptDraws
from runner.__main__ import main
from runner.config.compose import compose
from runner.config.run_settings import flat_settings
from runner.files.plain_yaml import plain_yaml
from runner.library.sampling import sample
from runner.library.selected_runs import load_runs
from runner.store.arrays.draws_netcdf import NEEDED
from runner.store.written_config import written_settings
from runner.tasks.run_identity import run_ids
from samplers import Gibbs
from samplers.kernel import Info
from targets import Bernoulli4

RUN = ["target=bernoulli4", "sampler=gibbs", "metric=[tv]", "task.chains=3", "seed=[0,4]"]


def test_runs_that_keep_nothing_are_those_of_before() -> None:
    """The id is that of a version without the key."""
    plain, keeping = compose([]), compose(["task.keep=10"])
    without = compose(["~task.keep"])
    assert run_ids(plain, "cpu", [0]) == run_ids(without, "cpu", [0])
    assert run_ids(plain, "cpu", [0]) != run_ids(keeping, "cpu", [0])
    assert flat_settings(written_settings(plain)) == flat_settings(written_settings(without))
    assert flat_settings(written_settings(keeping))["task.keep"] == 10


@pytest.mark.parametrize(
    ("most", "expected"), [(4, [25, 30, 35, 40]), (7, [23, 26, 29, 32, 35, 38]), (99, [*range(21, 41)])]
)
def test_at_most_so_many_draws_are_kept_evenly_spaced(most: int, expected: list[int]) -> None:
    target = Bernoulli4()
    context = Context(target, Gibbs(), seeds=2, chains=3, device=torch.device("cpu"))
    kept = KeptDraws(context, most=most, burn_in=20, steps=40)
    info = Info(torch.ones(2, 3), torch.zeros(2, 3), 1)
    for step in range(21, 41):
        kept.update(step, target.initial((2, 3), torch.Generator().manual_seed(step)), info)
    assert kept.steps == expected
    found = kept.of_run(1)
    again = [target.initial((2, 3), torch.Generator().manual_seed(step))[1] for step in expected]
    assert np.array_equal(found["theta"], torch.stack(again, 1).numpy())
    assert found["theta"].dtype == np.uint8
    assert np.array_equal(found["lp"], target.log_prob(torch.stack(again, 1)).numpy())


@pytest.mark.slow
def test_arviz_opens_the_draws_of_a_run(tmp_path: Path) -> None:
    for name in NEEDED:
        pytest.importorskip(name, reason="needs the extra arviz")
    import arviz_stats
    import xarray

    asked = [*RUN, "task.steps=60", "task.burn_in=20", "task.keep=40"]
    assert main([*asked, f"output_root={tmp_path / 'one'}"]) == 0
    assert main([*asked, f"output_root={tmp_path / 'two'}"]) == 0
    one, two = (
        {path.parent.name: path for path in (tmp_path / at).glob("runs/*/posterior.nc")}
        for at in ("one", "two")
    )
    assert len(one) == 2
    for run_id, path in one.items():
        assert path.read_bytes() == two[run_id].read_bytes()
        tree: Any = xarray.open_datatree(path)
        seed = int(plain_yaml((path.parent / "config.yaml").read_bytes())["seed"])
        target = Bernoulli4().float()
        drawn = sample(target, Gibbs(), steps=60, chains=3, seed=seed, burn_in=20)
        assert np.array_equal(tree.posterior["theta"].values, drawn.draws)
        assert np.array_equal(tree.sample_stats["lp"].values, drawn.log_prob)
        assert tree.posterior["draw"].values.tolist() == list(range(21, 61))
        assert arviz_stats.ess(tree)["theta"].values == pytest.approx(drawn.ess(), rel=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_more_chains_than_draws_are_no_mistake(tmp_path: Path) -> None:
    """ArviZ takes them for axes that were mixed up, and said so for each variable."""
    for name in NEEDED:
        pytest.importorskip(name, reason="needs the extra arviz")
    few = sample(Bernoulli4(), Gibbs(), steps=10, chains=20)
    assert few.to_arviz().posterior["theta"].shape == (20, 8, 4)
    assert main([*RUN, "task.steps=10", "task.keep=2", f"output_root={tmp_path}"]) == 0


@pytest.mark.slow
def test_a_chain_has_one_number_in_all_files_of_a_run(tmp_path: Path) -> None:
    """The chain and the step of the best state were those of another state among the draws."""
    for name in NEEDED:
        pytest.importorskip(name, reason="needs the extra arviz")
    import xarray

    asked = ["target=quadratic", "sampler=gibbs", "metric=[best_log_prob]", "task.chains=5", "seed=1"]
    assert main([*asked, "task.steps=50", "task.keep=500", f"output_root={tmp_path}"]) == 0
    (folder,) = tmp_path.glob("runs/*")
    best, tree = np.load(folder / "best.npz"), xarray.open_datatree(folder / "posterior.nc")
    found: Any = tree["sample_stats"]["lp"].sel(chain=int(best["chain"]), draw=int(best["step"]))
    assert float(found) == load_runs(output_root=tmp_path)["best_log_prob"].item()
    drawn = sample("quadratic", Gibbs(), steps=50, chains=5, seed=1).to_arviz()
    for of_run, of_library in zip(tree.subtree, drawn.subtree, strict=True):
        for name in set(of_run.coords) & set(of_library.coords) - {"draw"}:
            assert of_run.coords[name].values.tolist() == of_library.coords[name].values.tolist()


def test_without_its_extra_keeping_is_refused_before_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runner.store.arrays.draws_netcdf.NEEDED", ("xarray_that_is_not_there",))
    assert main([*RUN, "task.steps=20", "task.keep=5", f"output_root={tmp_path}"]) == 2
    said = "task.keep=5 needs xarray_that_is_not_there; pip install -e '.[arviz]' installs it."
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/*"))


def test_chains_that_move_between_temperatures_have_no_draws_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runner.store.arrays.draws_netcdf.NEEDED", ())
    walking = [
        "target=bernoulli4",
        "sampler=st_dmala",
        "sampler.ladder=[1.0,0.5]",
        "task.keep=5",
        "metric=[level_occupancy]",
    ]
    assert main([*walking, f"output_root={tmp_path}"]) == 2
    assert "task.keep=5 needs chains whose states are all draws from the target" in capsys.readouterr().err


def test_annealed_chains_have_no_draws_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runner.store.arrays.draws_netcdf.NEEDED", ())
    annealed = ["target=bernoulli4", "sampler=gibbs", "tempering=annealed", "task.keep=5"]
    assert main([*annealed, "metric=[best_log_prob]", f"output_root={tmp_path}"]) == 2
    said = "task.keep=5 needs draws from the target; the states of SimulatedAnnealing are no such"
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/*/summary.json"))
