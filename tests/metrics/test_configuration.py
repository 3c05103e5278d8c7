"""The configuration group `metric` composes, builds, and says which metrics are optional."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hydra
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from metrics import Metric, MetricSuite
from targets.models.rbm import RBM
from tests.support.measuring import context
from tests.support.targets.modes import Bare, corners

GROUP = Path(__file__).parents[2] / "conf" / "metric"
ALL = sorted(path.stem for path in GROUP.glob("*.yaml") if path.stem != "standard")

STUDIES = {
    *("auxiliary_density", "auxiliary_distance"),
    *("level_occupancy", "mean_norm"),
    *("flat_mass", "flatness", "hessian_spectrum", "local_entropy", "log_mean_gap"),
    *("predictive_log_likelihood", "predictive_rmse", "validation_rmse"),
    *("tour_cost", "tour_mismatch", "tour_pair_mismatch"),
    *("best_log_prob", "feasible", "gap", "log_z", "objective", "time_to_target"),
    *("autocorrelation_time", "autocorrelation_time_magnetisation", "binder", "energy", "ess_magnetisation"),
    *("magnetisation", "overlap", "renewed_round_trips", "rhat_magnetisation", "specific_heat"),
}
"""Metrics of one study, chosen by name: among the standard ones they would give all runs other identities."""

NAMES = [name for name in ALL if name not in STUDIES]


@pytest.fixture(scope="module")
def config_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A primary configuration that holds nothing but this group."""
    folder = tmp_path_factory.mktemp("conf")
    (folder / "config.yaml").write_text("defaults:\n  - metric: [standard]\n  - _self_\n")
    (folder / "metric").symlink_to(GROUP)
    return folder


def chosen(config_dir: Path, *overrides: str) -> dict[str, Any]:
    # The runner's own composing, in a test that came before, leaves Hydra initialised.
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(config_dir), version_base="1.3"):
        return OmegaConf.to_container(compose("config", overrides=list(overrides)).metric, resolve=True)


def suite_of(metric: dict[str, Any], run) -> MetricSuite:
    """What the runner does (`metrics.suite`)."""
    optional = metric.pop("_optional_", [])
    factories = {name: hydra.utils.instantiate(options, _partial_=True) for name, options in metric.items()}
    return MetricSuite(run, factories, optional=optional)


def test_every_file_holds_the_one_metric_that_it_is_named_after() -> None:
    for name in ALL:
        content = yaml.safe_load((GROUP / f"{name}.yaml").read_text())
        assert list(content) == [name]
        metric = hydra.utils.get_class(content[name]["_target_"])
        assert issubclass(metric, Metric)
        assert metric.name == name


def test_standard_is_all_but_those_of_studies_and_all_are_optional(config_dir: Path) -> None:
    metric = chosen(config_dir)
    assert sorted(metric.pop("_optional_")) == NAMES
    assert sorted(metric) == NAMES


def test_metrics_are_chosen_by_name(config_dir: Path) -> None:
    for override, names in (
        ("kl", ["kl"]),
        ("[kl]", ["kl"]),
        ("[kl,tv]", ["kl", "tv"]),
        ("[tv,swap_rate,ess]", ["ess", "swap_rate", "tv"]),
    ):
        assert sorted(chosen(config_dir, f"metric={override}")) == names


def test_the_standard_metrics_fit_any_target_and_kernel(config_dir: Path) -> None:
    everything = suite_of(chosen(config_dir), context(corners(), replicas=3))
    drawn = {"log_mmd", "log_mmd_slice"}
    assert sorted(everything.metrics) == [name for name in NAMES if name not in drawn]
    assert drawn <= set(suite_of(chosen(config_dir), context(RBM(4, 3))).metrics)
    bare = suite_of(chosen(config_dir), context(Bare()))
    assert sorted(bare.metrics) == ["acceptance", "ess", "jump", "rhat"]
    assert set(bare.left_out) == set(NAMES) - set(bare.metrics)


def test_options_reach_the_constructor_and_a_metric_beside_standard_is_not_optional(config_dir: Path) -> None:
    metric = chosen(config_dir, "metric=[mmd]", "+metric.mmd.features=7")
    assert suite_of(metric, context(corners())).metrics["mmd"].features.waves.shape[-1] == 7
    metric = chosen(config_dir)
    metric["mine"] = {"_target_": "metrics.discrepancy.emc.EMC"}
    with pytest.raises(ValueError, match="emc needs a target with known modes; Bare has none"):
        suite_of(metric, context(Bare()))
