"""What a search improves: a value that its runs will have, whatever the task; else nothing begins."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra optuna is not installed")

from runner import wandb_sweep
from runner.execution.errors import UserError
from runner.tasks.gaps.spectral_gap import SpectralGap
from tests.support.commands import Call, refused
from tests.support.searches import SEARCH, trials

BY_OPTUNA = ("-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "scale=smoke")
GAP = (
    *BY_OPTUNA,
    "task=spectral_gap",
    "target=bernoulli4",
    "sampler=dmala",
    "sampler.step_size=interval(1,2)",
)


def test_a_search_improves_what_its_task_measures(call: Call) -> None:
    ended = call(*GAP)
    assert (ended.status, ended.err) == (0, "")
    found = [each.split()[:2] for each in trials(ended.out)]
    assert found == [["inverse_gap", "="]] * 2
    assert "Best of 2 trials: inverse_gap = " in ended.out
    assert refused(call, *GAP, "objective=kl") == "error: Unknown objective 'kl'. Allowed: inverse_gap.\n"


def test_a_task_that_names_no_value_is_not_searched(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpectralGap, "directions", lambda task, config: {})
    assert "task=spectral_gap has no value that a search can improve" in refused(call, *GAP)


BEST = "best_validation_log_likelihood"


@pytest.mark.parametrize(
    ("task", "value", "goal"),
    [
        (["task=learn", "target=rbm"], "log_likelihood", "maximize"),
        (["task=learn", "task.validate_every=10", f"objective={BEST}"], BEST, "maximize"),
        (["task=autoencode", "target=rbm"], "mse", "minimize"),
        (["task=classify", "target=rbm"], "class_tv", "minimize"),
    ],
)
def test_a_sweep_of_wandb_improves_what_its_task_measures(task: list[str], value: str, goal: str) -> None:
    written = wandb_sweep.sweep_configuration([*task, "target=rbm", "sampler=gibbs,dmala", "seed=0"])
    assert written["metric"] == {"name": value, "goal": goal}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["target=bernoulli", "sampler=edula", "metric=[auxiliary_density]"],
            "auxiliary_density gives auxiliary_above, auxiliary_below, auxiliary_bin_*.\n",
        ),
        (["--config-dir", "mine", "metric=[far]"], "far gives tv.\n"),
    ],
)
def test_a_metric_without_a_value_of_its_name_is_no_objective(
    words: list[str], sentence: str, call: Call
) -> None:
    Path("mine/metric").mkdir(parents=True)
    Path("mine/metric/far.yaml").write_text("far: {_target_: metrics.discrepancy.tv.TV}\n")
    said = refused(call, *SEARCH, *words)
    assert said == f"error: objective must name a metric that gives a value of its own name; {sentence}"
    assert not list(Path("outputs").glob("runs/*"))


def test_only_metrics_are_names_of_objectives(call: Call) -> None:
    said = refused(call, *SEARCH, "metric=standard", "objective=tw")
    assert "tv" in said
    assert "_optional_" not in said


def test_a_table_of_an_experiment_is_not_searched(call: Call) -> None:
    """The trials would be runs of the default target and sampler under the experiment's name."""
    said = "error: A search takes no table of jobs, +experiment=pt_table1 was given: "
    searched = (*BY_OPTUNA, "+experiment=pt_table1", "task.chains=interval(2,4)")
    assert refused(call, *searched).startswith(said)
    several = refused(call, *BY_OPTUNA, "+experiment=pt_table1,pt_table4", "task.chains=interval(2,4)")
    assert several.startswith("error: +experiment must be one name in a search, ")
    rows = refused(call, *BY_OPTUNA, "target=mog", "row=glob(PT*)")
    assert rows.startswith("error: row chooses rows of a table, and a search computes none.")
    with pytest.raises(UserError, match=r"A search takes no table of jobs, "):
        wandb_sweep.sweep_configuration(["+experiment=pt_table1", "task.chains=2,4"])
    chosen = call(*searched, "target=bernoulli4", "sampler=gibbs", "task.steps=20", "metric=[tv]")
    assert (chosen.status, len(trials(chosen.out))) == (0, 2)
