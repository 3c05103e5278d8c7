"""Each metric refuses a target or kernel that lacks what it needs, and settings out of range."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from metrics.applications.predictive import PredictiveLogLikelihood, PredictiveRMSE, ValidationRMSE
from metrics.applications.tour_cost import TourCost
from metrics.applications.tour_mismatch import TourMismatch
from metrics.discrepancy.emc import EMC, EMCPerSample
from metrics.discrepancy.kl import KL, KLClipped
from metrics.discrepancy.log_mmd import LogMMD
from metrics.discrepancy.log_mmd_slice import LogMMDSlice
from metrics.discrepancy.mmd import MMD, MMDExact
from metrics.discrepancy.mmd_unshared_features import MMDUnsharedFeatures
from metrics.discrepancy.tv import TV, LogMeanGap
from metrics.landscape.flat_mass import FlatMass
from metrics.landscape.flatness import Flatness
from metrics.landscape.hessian_spectrum import HessianSpectrum
from metrics.landscape.local_entropy import LocalEntropy
from metrics.metric import Metric, UnsupportedMetric
from metrics.mixing.auxiliary_distance import AuxiliaryDistance
from metrics.mixing.diagnostics import ESSMode, RHatMode
from metrics.mixing.level_occupancy import LevelOccupancy
from metrics.mixing.mean_norm import MeanNorm
from metrics.mixing.round_trips import RoundTrips
from metrics.mixing.swaps import Barrier, SwapRate
from metrics.statistics.thinned_draws import ThinnedDraws
from targets.models.binary_bnn import BinaryBNN
from targets.models.rbm import RBM
from targets.spaces import Binary, Categorical, Ordinal
from targets.synthetic.gaussian_mixture import GaussianMixture
from targets.target import Target
from tests.support.measuring import context
from tests.support.small_tables import made_up
from tests.support.small_targets import random_target
from tests.support.targets import Bare, Table, corners


def constrained() -> Bare:
    target = Bare()
    target.constrained = True
    return target


BARE, ONE_HOT = Bare(), random_target(Categorical(2, 3))
SINGLE = Table(Ordinal(1, 2), torch.zeros(2), torch.zeros(1, 1))
HOLE = Table(Binary(1), torch.tensor([0.0, -torch.inf]), torch.zeros(1, 1))
LISTED = (
    *(KL, KLClipped, TV, LogMeanGap, MMD, MMDExact, MMDUnsharedFeatures),
    *(FlatMass, HessianSpectrum, LocalEntropy),
)


@pytest.mark.parametrize(
    ("metrics", "target", "words"),
    [
        (LISTED, BARE, "needs a target whose states can be listed; those of Bare cannot"),
        ((EMC, EMCPerSample, ESSMode, RHatMode), BARE, "needs a target with known modes; Bare has none"),
        ((EMC, EMCPerSample, ESSMode, RHatMode), SINGLE, "needs a target with at least 2 modes; Table has 1"),
        ((SwapRate, Barrier, RoundTrips), BARE, "needs a kernel with replicas that swap; Ladder has none"),
        ((LogMMD, LogMMDSlice), BARE, "needs a binary target with reference draws; Bare has none"),
        ((LogMMD, LogMMDSlice), ONE_HOT, "needs a binary target with reference draws; Quadratic has none"),
        ((TourCost, TourMismatch), BARE, "needs a target whose states are tours; those of Bare are not"),
        (
            (PredictiveRMSE, ValidationRMSE, PredictiveLogLikelihood),
            *(BARE, "needs a target that predicts the rows of a table; Bare does not"),
        ),
        ((FlatMass,), corners(), "needs a target that names flat and sharp states; Table names none"),
        ((HessianSpectrum,), corners(), "needs a target with known Hessians; Table has none"),
        ((Flatness,), corners(), "needs a binary target; Table is on Ordinal"),
        ((Flatness,), HOLE, "needs a target with density everywhere; some states of Table have none"),
        ((Flatness,), constrained(), "needs a target with density everywhere; some states of Bare have none"),
        ((MeanNorm,), BARE, "needs a target on the reals; Binary"),
        (
            (LevelOccupancy,),
            BARE,
            "needs a kernel whose chains move between temperatures; those of Ladder do",
        ),
        ((AuxiliaryDistance,), BARE, "needs a sampler with an auxiliary variable, such as edmala"),
        ((partial(ThinnedDraws, every=5),), corners(), "keeps zeros and ones, the target has other states"),
    ],
)
def test_needs_are_named(metrics: tuple[Callable[..., Metric], ...], target: Target, words: str) -> None:
    for metric in metrics:
        name = getattr(metric, "name", "thinned_draws")
        with pytest.raises(UnsupportedMetric, match=f"^{name} {words}"):
            metric(context(target))


REALS = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]]).double()
IMAGES, ROWS, TABLE = RBM(4, 3), BinaryBNN(made_up(), 3), corners()
POSITIVE, WHOLE = "must be a positive number", "must be a whole number of at least"


@pytest.mark.parametrize(
    ("metric", "target", "key", "value", "words"),
    [
        (KL, TABLE, "smoothing", 0, f"metric.kl.smoothing {POSITIVE}, 0 was given"),
        (MMD, TABLE, "features", 0, f"metric.mmd.features {WHOLE} 1, 0 was given"),
        (MMD, TABLE, "bandwidth", -1.0, f"bandwidth {POSITIVE}, -1.0 was given"),
        (MMDExact, TABLE, "bandwidth", -1.0, f"bandwidth {POSITIVE}, -1.0 was given"),
        (MMD, TABLE, "extent", 0.0, f"extent {POSITIVE}, 0.0 was given"),
        (
            MMDUnsharedFeatures,
            TABLE,
            "features",
            0,
            f"metric.mmd_unshared_features.features {WHOLE} 1, 0 was",
        ),
        (MMDUnsharedFeatures, TABLE, "bandwidth", 0.0, f"metric.mmd_unshared_features.bandwidth {POSITIVE}"),
        (LogMMD, IMAGES, "every", 0, f"metric.log_mmd.every {WHOLE} 1, 0 was given"),
        (LogMMD, IMAGES, "window", 1.5, f"metric.log_mmd.window {WHOLE} 1, 1.5 was given"),
        (LogMMD, IMAGES, "references", 1, f"metric.log_mmd.references {WHOLE} 2, 1 was given"),
        (LogMMD, IMAGES, "share", 1.5, "metric.log_mmd.share must be a number from 0 to 1, 1.5 was given"),
        (LogMMDSlice, IMAGES, "every", 0, f"metric.log_mmd_slice.every {WHOLE} 1, 0 was given"),
        (LogMMDSlice, IMAGES, "draws", 1, f"metric.log_mmd_slice.draws {WHOLE} 2, 1 was given"),
        (LogMMDSlice, IMAGES, "references", 1, f"metric.log_mmd_slice.references {WHOLE} 2, 1 was given"),
        (
            LogMMDSlice,
            IMAGES,
            "skip",
            1.0,
            "metric.log_mmd_slice.skip must be a number from 0 to 0.9, 1.0 was",
        ),
        *((LocalEntropy, TABLE, "eta", eta, f"metric.local_entropy.eta {POSITIVE}") for eta in (0.0, "wide")),
        (LocalEntropy, TABLE, "eta", float("nan"), f"metric.local_entropy.eta {POSITIVE}, nan was given"),
        (MeanNorm, REALS, "threshold", 0.0, f"metric.mean_norm.threshold {POSITIVE}, 0.0 was given"),
        (MeanNorm, REALS, "every", 0, f"metric.mean_norm.every {WHOLE} 1, 0 was given"),
        (PredictiveRMSE, ROWS, "every", 0, f"metric.predictive_rmse.every {WHOLE} 1, 0 was given"),
        (ValidationRMSE, ROWS, "every", 0, f"metric.validation_rmse.every {WHOLE} 1, 0 was given"),
        (
            PredictiveLogLikelihood,
            ROWS,
            "every",
            0,
            f"metric.predictive_log_likelihood.every {WHOLE} 1, 0 was",
        ),
    ],
)
def test_bad_settings_are_refused(
    metric: type[Metric], target: Target, key: str, value: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        metric(context(target), **{key: value})
