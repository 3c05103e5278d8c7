"""The MMD of PT-DLP v1, whose random features are drawn anew for each input."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.discrepancy.mmd_unshared_features import mean_features
from runner.tools.audit.finding import Figure, finding, near
from targets import MixtureOfGaussians, Streams

FEATURES, REPEATS = 1000, 100

Maps = tuple[Tensor, Tensor]
"""W and b of many feature maps."""

SPREAD = 2 * math.sqrt(1.25 / FEATURES)
"""Standard deviation of the estimate, 0.071, whatever is compared."""

TOLERANCE = 0.07
"""One standard deviation of a single estimate, as our notes give it; the mean of 100 has a tenth of it."""


def inputs() -> dict[str, Tensor]:
    """Histograms on the grid, as the released code compares them with the target's: ``(101, 101)``."""
    target = MixtureOfGaussians(8, energy="released").probabilities().reshape(101, 101)
    point = torch.zeros_like(target)
    point[50, 50] = 1.0
    return {
        "the target itself": target,
        "the uniform distribution": torch.full_like(target, 1 / target.numel()),
        "a point mass": point,
    }


@finding(
    "unshared-features",
    "The MMD of v1 is near 2 for any two inputs: each gets random features of its own",
    where="PT-DLP v1 Tables 1, 4, 5; PTDLP utils.py:24-38",
    source="settings 0.1, A.3",
    method="100 pairs of feature maps, for three histograms",
)
def unshared_features() -> list[Figure]:
    histograms = inputs()
    target = histograms["the target itself"]
    expected = dict(zip(histograms, (2.001, 2.005, 1.989), strict=True))
    streams = Streams(range(REPEATS), "unshared features")
    figures = []
    for name, histogram in histograms.items():
        mine, theirs = _maps(streams), _maps(streams)
        values = torch.stack([_squared_gap(histogram, target, mine, theirs, i) for i in range(REPEATS)])
        label = f"target against {name}"
        error = float(values.std()) / REPEATS**0.5
        figures.append(Figure(f"{label}: mean", near(expected[name], TOLERANCE), float(values.mean()), error))
        figures.append(Figure(f"{label}: sd", near(SPREAD, 0.02), float(values.std())))
    return figures


@finding(
    "shared-features",
    "With shared features, histogram rows as points hardly differ either",
    where="PTDLP utils.py:40-66, not called",
    source="settings A.3",
    method="one feature map for both inputs, the same three histograms",
)
def shared_features() -> list[Figure]:
    histograms = inputs()
    frequency, phase = (part[0] for part in _maps(Streams([0], "shared features")))
    features = {name: mean_features(rows, frequency, phase) for name, rows in histograms.items()}
    target = features["the target itself"]
    values = {name: float((mine - target).square().sum()) for name, mine in features.items()}
    # One map was drawn for the notes and another one here, so a figure may be off by its own size.
    stated = dict(zip(histograms, (0.0, 1e-9, 8e-5), strict=True))
    return [
        Figure(f"target against {name}", near(stated[name], stated[name]), value)
        for name, value in values.items()
    ]


def _squared_gap(rows: Tensor, others: Tensor, mine: Maps, theirs: Maps, which: int) -> Tensor:
    """|mean phi(rows) - mean phi'(others)|^2 with pair number `which` of the feature maps."""
    left = mean_features(rows, *(part[which] for part in mine))
    right = mean_features(others, *(part[which] for part in theirs))
    return (left - right).square().sum()


def _maps(streams: Streams) -> Maps:
    """W ``(seeds, D, 101)`` and b ``(seeds, D)``, sigma = 1."""
    batch = (len(streams.generators), FEATURES)
    frequency = streams.normal(batch, (101,), torch.float64)
    return frequency, 2 * math.pi * streams.uniform(batch, (), torch.float64)
