"""Small tabular data for tests: made-up rows, and files in the form of each published set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from targets.tabular import news
from targets.tabular.adult import CATEGORIES, COLUMNS
from targets.tabular.tabular_data import Part, TabularData


def rows(count: int, features: int, seed: int, distinct: int | None = None) -> Part:
    """Normal inputs, no more than `distinct` of them different, and uniform outcomes."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn((distinct or count, features), generator=generator, dtype=torch.float64)
    if distinct:
        inputs = inputs[torch.randint(distinct, (count,), generator=generator)]
    return Part(inputs, torch.rand(count, generator=generator, dtype=torch.float64))


def made_up(train: int = 40, features: int = 4, seed: int = 0, distinct: int | None = None) -> TabularData:
    """A set of which the training rows repeat where `distinct` says so."""
    return TabularData(
        "made up",
        rows(train, features, seed, distinct),
        rows(7, features, seed + 1),
        rows(23, features, seed + 2, distinct),
    )


def sparse_rows(count: int, seed: int) -> Part:
    """Two columns of normal numbers, twelve that are -0.2 but in one row of thirty, and three constants."""
    generator = torch.Generator().manual_seed(seed)
    dense = torch.randn((count, 2), generator=generator, dtype=torch.float64)
    rare = torch.rand((count, 12), generator=generator, dtype=torch.float64)
    constant = torch.tensor([0.0, 1.5, -2.0], dtype=torch.float64).expand(count, 3)
    inputs = torch.cat([dense, torch.where(rare < 1 / 30, rare * 30, -0.2), constant], 1)
    inputs = inputs[:, torch.randperm(inputs.shape[1], generator=generator)]
    return Part(inputs, torch.rand(count, generator=generator, dtype=torch.float64))


def sparse(train: int) -> TabularData:
    """A set of `sparse_rows`."""
    return TabularData("made up", sparse_rows(train, 0), sparse_rows(5, 1), sparse_rows(9, 2))


def squares(prediction: Tensor, part: Part) -> Tensor:
    """Mean over the rows of a part of (prediction - outcome)^2."""
    return (prediction - part.outcome).square().mean(-1)


def predicted(theta: Tensor, inputs: Tensor, hidden: int) -> Tensor:
    """A binary network's prediction, unit by unit and row by row, from one state ``(d,)``."""
    w = [2.0 * value - 1.0 for value in theta.tolist()]
    features = inputs.shape[1]
    found = []
    for x in inputs.tolist():
        output = w[-1]
        for unit in range(hidden):
            z = w[features * hidden + unit]
            z += sum(x[place] * w[place * hidden + unit] for place in range(features))
            output += w[(features + 1) * hidden + unit] * math.tanh(z)
        found.append(1.0 / (1.0 + math.exp(-output)))
    return torch.tensor(found, dtype=torch.float64)


def write(path: Path, lines: Sequence[Sequence[Any]]) -> Path:
    """A file of comma-separated lines, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


COMPAS_HEADER = [
    *("id", "sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    *("days_b_screening_arrest", "c_charge_degree", "is_recid", "score_text", "priors_count"),
    "two_year_recid",
]


def compas_rows(count: int, seed: int = 0) -> list[list[Any]]:
    """Rows that pass ProPublica's conditions."""
    rng = np.random.default_rng(seed)
    races, sexes = ("Caucasian", "Other", "African-American"), ("Male", "Female")
    return [
        [
            *(place, sexes[rng.integers(2)], rng.integers(18, 70), races[rng.integers(3)]),
            *rng.integers(0, 4, 4),
            *(rng.integers(-30, 31), "FM"[rng.integers(2)], rng.integers(2), "Low", 0, rng.integers(2)),
        ]
        for place in range(count)
    ]


def adult_rows(count: int, seed: int = 0, label: str = "{}K") -> list[list[Any]]:
    """Rows without unknown entries; `label` is the form of an income."""
    rng = np.random.default_rng(seed)
    return [
        [
            (f" {column[:3]}{rng.integers(2)}" if column in (*CATEGORIES, "education") else rng.integers(100))
            for column in COLUMNS[:-1]
        ]
        + [" " + label.format(">50" if rng.integers(2) else "<=50")]
        for _ in range(count)
    ]


def news_rows(count: int, seed: int = 0) -> list[list[Any]]:
    """A header with blanks, as it is published, and rows."""
    rng = np.random.default_rng(seed)
    header = ["url", " timedelta", *(f" {name}" for name in news.NUMERIC), " shares"]
    return [
        header,
        *([f"http://{place}", 1.0, *rng.random(58), rng.integers(1, 900)] for place in range(count)),
    ]


def blog_rows(count: int, seed: int = 0, comments: Sequence[int] = ()) -> list[list[Any]]:
    """Rows without header; the counts of the first ones are `comments`."""
    rng = np.random.default_rng(seed)
    counts = [*comments, *rng.integers(0, 5, count)][:count]
    return [[*rng.random(280).round(3), made] for made in counts]
