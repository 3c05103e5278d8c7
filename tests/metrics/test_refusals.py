"""Each metric refuses a target or kernel that lacks what it needs, and settings out of range."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import metrics
from metrics.metric import UnsupportedMetric
from metrics.statistics.thinned_draws import ThinnedDraws
from targets import RBM, Binary, BinaryBNN, Categorical, GaussianMixture, Ordinal, Target
from tests.support.measuring import context
from tests.support.targets.modes import Bare, Table, corners
from tests.support.targets.small_tables import made_up
from tests.support.targets.small_targets import Quadratic, random_target

PUBLIC = [getattr(metrics, name) for name in metrics.__all__]
METRICS = {one.name: one for one in PUBLIC if hasattr(one, "name")}


def constrained() -> Bare:
    target = Bare()
    target.constrained = True
    return target


BARE, ONE_HOT, TABLE = Bare(), random_target(Categorical(2, 3)), corners()
SINGLE = Table(Ordinal(1, 2), torch.zeros(2), torch.zeros(1, 1))
HOLE = Table(Binary(1), torch.tensor([0.0, -torch.inf]), torch.zeros(1, 1))
OFF_CENTRE = GaussianMixture([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]]).double()
LISTED = "kl kl_clipped tv log_mean_gap mmd mmd_exact mmd_unshared_features"
STUDIED = "flat_mass hessian_spectrum local_entropy"
MODED = "emc emc_per_sample ess_mode rhat_mode"
ENTROPIC = "auxiliary_density auxiliary_distance"
PREDICTIONS = "predictive_rmse validation_rmse predictive_log_likelihood"


@pytest.mark.parametrize(
    ("names", "target", "words"),
    [
        (
            f"{LISTED} {STUDIED}",
            BARE,
            "needs the exact probabilities of all states; Bare has no method probabilities",
        ),
        ("emc emc_per_sample ess_mode rhat_mode", BARE, "needs a target with known modes; Bare has none"),
        (MODED, SINGLE, "needs a target with at least 2 modes; Table has 1"),
        ("swap_rate barrier round_trips", BARE, "needs a kernel with replicas that swap; Ladder has none"),
        ("renewed_round_trips", BARE, "needs parallel tempering; Ladder is none"),
        ("log_mmd log_mmd_slice", BARE, "needs a binary target with reference draws; Bare has none"),
        ("log_mmd log_mmd_slice", ONE_HOT, "needs a binary target with reference draws; Quadratic has none"),
        (
            "tour_cost tour_mismatch tour_pair_mismatch",
            BARE,
            "needs a target whose states are tours; those of Bare are not",
        ),
        (PREDICTIONS, BARE, "needs a target that predicts the rows of a table; Bare does not"),
        ("flat_mass", TABLE, "needs a target that names flat and sharp states; Table names none"),
        ("hessian_spectrum", TABLE, "needs a target with known Hessians; Table has none"),
        ("flatness", TABLE, "needs a binary target; Table is on Ordinal"),
        ("flatness", HOLE, "needs a target with density everywhere; some states of Table have none"),
        ("flatness", constrained(), "needs a target with density everywhere; some states of Bare have none"),
        ("mean_norm", BARE, "needs a target on the reals; Binary"),
        ("mean_norm", OFF_CENTRE, "needs a target whose mean is 0; that of this one is 1.33 away"),
        (
            "level_occupancy",
            BARE,
            "needs a kernel whose chains move between temperatures; those of",
        ),
        (
            "magnetisation",
            SINGLE,
            r", and all that is measured of it, needs bits or one-hot coordinates; Ordinal\(",
        ),
        ("overlap", BARE, r"needs two chains or more of a binary target; 1 of Binary\(d=3"),
        ("overlap", ONE_HOT, r"needs two chains or more of a binary target; 1 of Categorical\("),
        (ENTROPIC, BARE, "needs a sampler with an auxiliary variable, such as edmala"),
    ],
)
def test_needs_are_named(names: str, target: Target, words: str) -> None:
    for name in names.split():
        with pytest.raises(metrics.UnsupportedMetric, match=f"^{name} ?{words}"):
            METRICS[name](context(target))


def test_stored_draws_are_bits() -> None:
    with pytest.raises(metrics.UnsupportedMetric, match="thinned_draws keeps zeros and ones"):
        ThinnedDraws(context(corners(), 1, 2), most=1, burn_in=0, steps=5)


REALS = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]]).double()
IMAGES, ROWS = RBM(4, 3), BinaryBNN(made_up(), 3)
POSITIVE, WHOLE = "must be a positive number", "must be a whole number of at least"


@pytest.mark.parametrize(
    ("name", "target", "key", "value", "words"),
    [
        ("kl", TABLE, "smoothing", 0, POSITIVE),
        ("mmd", TABLE, "features", 0, f"{WHOLE} 1"),
        ("mmd_unshared_features", TABLE, "features", 0, f"{WHOLE} 1"),
        ("mmd_unshared_features", TABLE, "bandwidth", 0.0, POSITIVE),
        ("log_mmd", IMAGES, "every", 0, f"{WHOLE} 1"),
        ("log_mmd", IMAGES, "window", 1.5, f"{WHOLE} 1"),
        ("log_mmd", IMAGES, "references", 1, f"{WHOLE} 2"),
        ("log_mmd", IMAGES, "share", 1.5, "must be a number from 0 to 1"),
        ("log_mmd_slice", IMAGES, "every", 0, f"{WHOLE} 1"),
        ("log_mmd_slice", IMAGES, "draws", 1, f"{WHOLE} 2"),
        ("log_mmd_slice", IMAGES, "references", 1, f"{WHOLE} 2"),
        ("log_mmd_slice", IMAGES, "skip", 1.0, "must be a number from 0 to 0.9"),
        *(("local_entropy", TABLE, "eta", eta, POSITIVE) for eta in (0.0, -1.0, float("nan"), "wide")),
        ("mean_norm", REALS, "threshold", 0.0, POSITIVE),
        ("mean_norm", REALS, "every", 0, f"{WHOLE} 1"),
        *((name, ROWS, "every", 0, f"{WHOLE} 1") for name in PREDICTIONS.split()),
    ],
)
def test_bad_settings_are_refused(name: str, target: Target, key: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"^metric.{name}.{key} {words}, {value!r} was given$"):
        METRICS[name](context(target), **{key: value})


@pytest.mark.parametrize(("key", "value"), [("bandwidth", -1.0), ("extent", 0.0)])
def test_bad_kernels_of_mmd_are_refused(key: str, value: float) -> None:
    for name in ("mmd", "mmd_exact"):
        with pytest.raises(ValueError, match=f"^{key} must be a positive number, {value} was given$"):
            METRICS[name](context(TABLE), **{key: value})


def test_features_of_very_many_states_are_refused() -> None:
    """One measurement would take 6 seconds; 512 features of 2^18 states are as many as it may be."""
    coupling = torch.zeros(18, 18, dtype=torch.float64)
    large = context(Quadratic(Binary(18), coupling, coupling[0]))
    assert METRICS["mmd"](large, features=512).features.waves.shape == (18, 2, 512)
    with pytest.raises(UnsupportedMetric, match="1,000 features of each of 262,144 states takes many"):
        METRICS["mmd"](large)
