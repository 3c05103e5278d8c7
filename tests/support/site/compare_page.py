"""What the page Compare draws, by its script in Node, which is there more often than a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner.report.figures.metric_axis import Quantity
from runner.site.content.compare_data import curves_script, runs_script, shard_of, t_quantiles
from runner.site.content.curves import Curve
from runner.site.index.run_entry import RunEntry
from runner.site.index.store_index import Index
from runner.site.pages.assets import STATIC

PAGE = Path(__file__).with_name("compare_in_node.js")


@dataclass(frozen=True)
class Compared:
    """What the page draws and says.

    Attributes:
        drawn: traces of Plotly.
        caption: of the figure.
        found: how many runs fit the address.
        ticked: the values that are ticked of each setting with some, separated by commas.
        skipped: whether the link to the content went there and left the address as it is.
    """

    drawn: list[dict[str, Any]]
    caption: str
    found: str
    ticked: dict[str, str]
    skipped: bool

    @property
    def means(self) -> dict[str, str]:
        """What is said of each mean, by its row."""
        (trace,) = self.drawn
        return dict(zip(trace["y"], trace["customdata"], strict=True))


def compared(site: Path, address: str) -> Compared:
    """The page of the report in `site` at what stands behind ``compare.html#``."""
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node")
    ended = subprocess.run(
        [node, str(PAGE), str(site), address], capture_output=True, text=True, check=True, timeout=60
    )
    return Compared(**json.loads(ended.stdout))


def compare_page(
    folder: Path,
    runs: Sequence[RunEntry],
    address: str,
    curves: Mapping[str, Mapping[str, Curve]] | None = None,
) -> Compared:
    """The page of these `runs`, with their `curves` by id, at `address`."""
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "data" / "curves").mkdir(parents=True, exist_ok=True)
    shutil.copy(STATIC / "compare.js", folder / "assets")
    shards = sorted({shard_of(run_id) for run_id in curves or {}})
    for shard in shards:
        own = {run_id: each for run_id, each in (curves or {}).items() if shard_of(run_id) == shard}
        (folder / "data" / "curves" / f"{shard}.js").write_text(curves_script(shard, own))
    names = {name: Quantity("") for run in runs for name in run.metrics}
    t = t_quantiles(Index("", {run.run_id: run for run in runs}))
    script = runs_script(runs, names, {}, shards, t, {})
    (folder / "data" / "runs.js").write_text(script)
    return compared(folder, address)
