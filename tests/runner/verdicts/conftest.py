"""Folders of recorded tables that tests may change: some of the project, and small ones by their values."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd
import pytest
from scipy import stats

RECORD = Path(__file__).parents[3] / "outputs" / "record"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An output root with a few of the recorded tables."""
    for name in ("pt_table1_paper", "pt_table1_quick", "pt_table2_sampling_paper", "edlp_figure11_paper"):
        shutil.copytree(RECORD / name, tmp_path / "record" / name)
    return tmp_path


class Record(Protocol):
    """Records rows by their values of each seed, times 1 in the column near and -2 in the column far."""

    def __call__(
        self, name: str, rows: Mapping[str, Iterable[float]], against: Sequence[str] = ("B",)
    ) -> None: ...


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """The metric is tv, its unit 10. Below the table stand comparisons of A with `against`."""

    def call(name: str, rows: Mapping[str, Iterable[float]], against: Sequence[str] = ("B",)) -> None:
        write_record(tmp_path / name, rows, against)

    return call


def write_record(folder: Path, rows: Mapping[str, Iterable[float]], against: Sequence[str]) -> None:
    folder.mkdir()
    lines, seeds = [], []
    for column, factor in (("near", 1.0), ("far", -2.0)):
        for row, values in rows.items():
            data = pd.Series([factor * value for value in values])
            half = stats.t.ppf(0.975, len(data) - 1) * data.std() / len(data) ** 0.5
            mean, place = data.mean(), {"row": row, "cell": column, "metric": "tv"}
            numbers = {"mean": mean, "lo": mean - half, "hi": mean + half, "n": len(data), "sd": data.std()}
            lines.append(place | numbers | {"published_own": 2.0, "p_value": 0.25})
            seeds.append(place | dict(enumerate(data)))
    lines += [lines[0] | {"row": row} for row in ("E", "A @ noon")]
    pd.DataFrame(lines).to_csv(folder / "table.csv", index=False)
    pd.DataFrame(seeds).to_csv(folder / "seeds.csv", index=False)
    compared = {"row": "A", "cell": "near", "metric": "tv", "holm_p_value": 0.0625, "detectable": 5.0}
    pd.DataFrame([compared | {"against": other} for other in against]).to_csv(
        folder / "comparisons.csv", index=False
    )
    (folder / "manifest.json").write_text('{"units": {"tv": 10.0}}')
