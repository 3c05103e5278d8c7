"""The same seed gives the same bytes: again, alone or in company, in another order, beside other metrics."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from runner.store.run_store import Store
from tests.support.commands import Call, rows_by_run

TARGETS = ["mog", "bernoulli4"]
SAMPLERS = ["dmala", "pt_dmala", "gibbs", "exact_draws"]


def common(target: str, sampler: str) -> list[str]:
    # Seven chains: no multiple of what a processor takes at once.
    return [f"target={target}", f"sampler={sampler}", "task.chains=7", "task.steps=60", "task.record=2"]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("target", TARGETS)
def test_alone_in_company_and_in_another_order(call: Call, tmp_path: Path, target: str, sampler: str) -> None:
    found = []
    for place, seeds in enumerate((["[0,1,2]"], ["[2,0,1]"], ["1", "0", "2"])):
        root = tmp_path / str(place)
        if place and (tmp_path / "0/outputs/artefacts").exists():
            shutil.copytree(tmp_path / "0/outputs/artefacts", root / "outputs/artefacts")
        for seed in seeds:
            ended = call(*common(target, sampler), f"seed={seed}", f"output_root={root}/outputs")
            assert ended.status == 0, ended.err
        found.append(rows_by_run(root / "outputs"))
    assert len(found[0]) == 3
    assert found[0] == found[1]
    assert found[0] == found[2]


def summary_of(root: Path) -> dict[str, Any]:
    (path,) = root.glob("runs/*/summary.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("sampler", ["dmala", "pt_dmala"])
def test_a_metric_more_changes_no_chain(call: Call, tmp_path: Path, sampler: str) -> None:
    roots = {}
    for name, metrics in {"few": "[tv,jump]", "many": "standard"}.items():
        roots[name] = tmp_path / name
        ended = call(*common("mog", sampler), f"metric={metrics}", f"output_root={roots[name]}")
        assert ended.status == 0, ended.err
    few, many = (summary_of(root)["metrics"] for root in roots.values())
    assert set(few) < set(many)
    assert few == {name: many[name] for name in few}


def test_other_steps_begin_with_the_same_chain(call: Call, tmp_path: Path) -> None:
    """A longer run passes through the shorter one: nothing looks at the number of steps to come."""
    argv = ["target=bernoulli4", "sampler=gibbs", "metric=tv", "task.chains=3", "task.burn_in=0"]
    call(*argv, "task.steps=16", "output_root=short")
    call(*argv, "task.steps=256", "task.record=2", "output_root=long")
    (path,) = Path("long/runs").iterdir()
    rows = Store("long").run(path.name).metrics()
    assert rows is not None
    at_16 = rows[(rows["step"] == 16) & (rows["metric"] == "tv")]["value"].item()
    assert at_16 == summary_of(Path("short"))["metrics"]["tv"]
