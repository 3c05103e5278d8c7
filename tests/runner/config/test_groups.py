"""Every option of every group of conf/ composes and builds; which targets each sampler serves."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import conf
from runner.config.data.datasets import BINARISATIONS
from runner.execution.errors import UserError
from runner.models.model_files import save_model
from runner.problem.build import Problem, build_kernel, fixed
from runner.problem.problems import Problems
from runner.problem.trials import check_kernel, check_metrics, check_target, check_traceable
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.preflight import preflight
from samplers.tuning.tunable import Tunable
from targets.models.rbm import RBM
from targets.spaces import Binary, Ordinal
from targets.target import PairwiseInteractions, SingleSiteDifferences

CONF = Path(conf.__path__[0])


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def job(*overrides: str) -> Job:
    (only,) = jobs_of(requested(overrides, multirun=False))
    return only


# Of a learned target: one that is small and needs no download. Its preflight trains nothing.
SMALL = {
    "rbm": ["target.dataset=digits", "target.n_hidden=8"],
    "resnet_ebm": ["target.dataset=digits", "target.width=2", "target.blocks=1", "target.halvings=1"],
}

# What serves some targets only, with the sentence that the others get.
REALS = {"gaussian_mixture", "singular_mixture", "stmh_two_modes"}
NOT_REAL = (set(options("target")) - REALS, "needs a binary, ordinal or categorical space, not Real(d=")
SUMMED = {"bernoulli", "categorical", "quadratic", "fhmm", "ngram"}
ORDER_PARAMETER = (
    "autocorrelation_time_magnetisation",
    "binder",
    "ess_magnetisation",
    "magnetisation",
    "rhat_magnetisation",
)
ON_THE_REALS = ("mala", "ula", "stmh", "st_mala", "reld", "mreld", "pt_random_walk")
RBM_ONLY = ({"rbm"}, "needs a restricted Boltzmann machine (targets.models.rbm.RBM), {} was given.")
TOURS_ONLY = ({"released_tsp", "tsp"}, "needs a target whose states are tours, such as tsp, {} was given.")
SERVES = {
    **dict.fromkeys(ON_THE_REALS, (REALS, "needs a real space, not ")),
    "random_walk": (set(options("target")), ""),
    **dict.fromkeys(("rbm_gibbs", "pt_rbm_gibbs"), RBM_ONLY),
    "ground_truth_draws": ({"rbm"}, "needs a target with held_out draws, {} has none."),
    **dict.fromkeys(("tour_swap", "pt_tour_swap"), TOURS_ONLY),
    "exact_draws": (
        {"mog", "mos", "bernoulli4", "minibatch", "released_tsp", "tsp", *SUMMED, *REALS},
        "needs a target that can be sampled exactly, {} cannot.",
    ),
}

NEEDED = {
    "dmala_newton": SingleSiteDifferences,
    **dict.fromkeys(("swendsen_wang", "pt_swendsen_wang", "wolff"), PairwiseInteractions),
}
"""Samplers that serve every target with a capability, on spaces without an order."""


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Problem]:
    """Every target, checked, under the sampler that serves all of them."""
    root, found, checked = tmp_path_factory.mktemp("outputs"), {}, Problems()
    for target in options("target"):
        given = [f"target={target}", *SMALL.get(target, []), "sampler=random_walk", f"output_root={root}"]
        config = job(*given, "scale=smoke").config
        checked.check(config)
        found[target] = checked.of(config)
    assert list(root.rglob("*.safetensors")) == []
    return found


@pytest.mark.parametrize("sampler", options("sampler"))
def test_every_sampler_serves_the_targets_it_should(sampler: str, problems: dict[str, Problem]) -> None:
    kernel = build_kernel(job(f"sampler={sampler}").config)
    served, refusal = SERVES.get(sampler, NOT_REAL)
    if sampler in NEEDED:
        able = {name for name, each in problems.items() if isinstance(each.target, NEEDED[sampler])}
        served = {name for name in able if not isinstance(problems[name].target.space, Ordinal)}
        refusal = ""
    if sampler.startswith("positionwise"):
        spaces = {name: each.target.space for name, each in problems.items()}
        served = {name for name, space in spaces.items() if isinstance(space, Binary) and space.d % 3 == 0}
        refusal = "needs a binary space of whole positions of 3 bits, not "
    for target, problem in problems.items():
        tried = replace(
            problem,
            kernel=fixed(kernel).to(problem.target.like()),
            tunable=kernel if isinstance(kernel, Tunable) else None,
        )
        if target in served:
            for check in (check_target, check_kernel, check_metrics):
                check(tried)
            continue
        with pytest.raises(UserError) as refused:
            check_kernel(tried)
        said = refused.value.args[0]
        assert said.startswith("sampler: ")
        assert refusal.format(type(problem.target).__name__) in said


@pytest.mark.parametrize("target", options("target"))
def test_steps_on_every_target_can_be_traced(target: str, problems: dict[str, Problem]) -> None:
    """Langevin steps, which ask for gradients or differences."""
    problem, sampler = problems[target], "mala" if target in REALS else "dmala"
    kernel = fixed(build_kernel(job(f"sampler={sampler}").config)).to(problem.target.like())
    check_traceable(replace(problem, kernel=kernel))


# The other metrics take the default target and sampler.
NEEDS_THE_RBM = ("log_mmd", "log_mmd_slice")
NEEDS = {
    **{metric: ["target=rbm", *SMALL["rbm"]] for metric in NEEDS_THE_RBM},
    **{metric: ["target=bernoulli4"] for metric in ("flat_mass", "flatness", "hessian_spectrum")},
    **{
        metric: ["target=binary_bnn"]
        for metric in ("predictive_rmse", "predictive_log_likelihood", "validation_rmse")
    },
    **{metric: ["target=tsp"] for metric in ("tour_cost", "tour_mismatch", "tour_pair_mismatch")},
    **{
        metric: ["target=maxcut", "target.graph.nodes=12"]
        for metric in ("objective", "gap", "time_to_target", "feasible")
    },
    **{metric: ["target=ising"] for metric in (*ORDER_PARAMETER, "overlap")},
    "auxiliary_density": ["sampler=edmala"],
    "auxiliary_distance": ["sampler=pt_edmala"],
    "log_z": ["target=bernoulli4"],
    "level_occupancy": ["target=bernoulli4", "sampler=st_dmala"],
    "mean_norm": ["target=stmh_two_modes", "sampler=stmh"],
}


@pytest.mark.parametrize("metric", options("metric"))
def test_every_metric_composes_and_builds(metric: str, tmp_path: Path) -> None:
    needed = NEEDS.get(metric, [])
    sampler = [] if any(word.startswith("sampler=") for word in needed) else ["sampler=pt_dmala"]
    preflight([job(*needed, *sampler, f"metric={metric}", "scale=smoke", f"output_root={tmp_path}")])


@pytest.mark.parametrize("metric", NEEDS_THE_RBM)
def test_a_metric_of_the_reference_sample_refuses_a_target_without_one(metric: str, tmp_path: Path) -> None:
    built = job("target=bernoulli4", "sampler=dmala", f"metric={metric}", f"output_root={tmp_path}")
    with pytest.raises(UserError, match=f"{metric} needs"):
        preflight([built])


@pytest.mark.parametrize("name", options("dataset"))
def test_every_data_set_says_what_it_is_and_can_be_loaded(name: str) -> None:
    said: dict[str, Any] = yaml.safe_load((CONF / "dataset" / f"{name}.yaml").read_text())
    assert said["name"] == name
    assert said["binarisation"] in BINARISATIONS
    height, width = said["shape"]
    assert min(height, width) >= 1
    module, _, function = said["_target_"].rpartition(".")
    load = getattr(importlib.import_module(module), function)
    # Every key that is not the runner's own is an argument of the loader, and none is missing.
    given = {key: value for key, value in said.items() if key not in ("name", "_target_")}
    inspect.signature(load).bind(root=None, **given)
    for variant in said["variants"]:
        assert set(variant) == {*("train", "validation", "test"), *("mean", "tolerance", "note")}
        assert variant["train"] > 0
        assert variant["test"] > 0
        # Null where the published file could not be had.
        unknown = variant["mean"] is variant["tolerance"] is None
        assert unknown or 0 < variant["tolerance"] < variant["mean"] < 1


def test_every_data_set_makes_a_run_of_its_own() -> None:
    names = options("dataset")
    overrides = ["target=rbm", f"target.dataset={','.join(names)}", "sampler=dmala"]
    jobs = jobs_of(requested(overrides, multirun=True))
    assert [each.config.target.dataset for each in jobs] == names
    assert len({run_id for each in jobs for run_id in each.run_ids.values()}) == len(names)


@pytest.mark.parametrize("task", options("task"))
def test_every_task_composes_and_builds(task: str, tmp_path: Path) -> None:
    given, sampler = ["target=rbm", *SMALL["rbm"]], "pt_dmala"
    if task == "log_partition":
        given, sampler = ["target=quadratic"], "gibbs"
    if task == "evaluate":
        save_model(tmp_path / "model.safetensors", RBM(64, 8), {"dataset": "digits"})
        given = [f"model={tmp_path / 'model.safetensors'}"]
    root = f"output_root={tmp_path}/outputs"
    built = job(f"task={task}", *given, f"sampler={sampler}", "scale=smoke", root)
    preflight([built])
    assert built.config.task.name == task


@pytest.mark.parametrize("scale", options("scale"))
def test_every_scale_composes(scale: str) -> None:
    config = job("target=mog", "sampler=dmala", f"scale={scale}").config
    assert config.scale.name == scale
    assert config.task.steps == config.scale.steps
