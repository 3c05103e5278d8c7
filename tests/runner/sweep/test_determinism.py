"""The same seed gives the same bytes: again, alone or in company, in another order, beside other metrics."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from runner.store.run_store import Store
from tests.support.commands import Call, rows_by_run

PAIRS = [
    *(("mog", sampler) for sampler in ("dmala", "pt_dmala", "exact_draws")),
    *(("bernoulli4", sampler) for sampler in ("gibbs", "pt_dmala")),
]


def common(target: str, sampler: str) -> list[str]:
    # Seven chains: no multiple of what a processor takes at once.
    return [f"target={target}", f"sampler={sampler}", "task.chains=7", "task.steps=30", "task.record=2"]


@pytest.mark.parametrize(("target", "sampler"), PAIRS)
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


@pytest.mark.parametrize("sampler", ["dmala", "pt_dmala"])
def test_a_metric_more_changes_no_chain(call: Call, sampler: str) -> None:
    for metrics in ("[tv,jump]", "standard"):
        ended = call(*common("mog", sampler), f"metric={metrics}")
        assert ended.status == 0, ended.err
    few, many = sorted((each["metrics"] for each in summaries()), key=len)
    assert set(few) < set(many)
    assert few == {name: many[name] for name in few}


def summaries() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in Path().glob("outputs/runs/*/summary.json")]


def test_other_steps_begin_with_the_same_chain(call: Call) -> None:
    """A longer run passes through the shorter one: nothing looks at the number of steps to come."""
    argv = ["target=bernoulli4", "sampler=gibbs", "metric=tv", "task.chains=3", "task.burn_in=0"]
    call(*argv, "task.steps=16")
    call(*argv, "task.steps=256", "task.record=2")
    short, long = sorted(summaries(), key=lambda each: each["steps"])
    rows = Store("outputs").run(long["run_id"]).metrics()
    assert rows is not None
    at_16 = rows[(rows["step"] == 16) & (rows["metric"] == "tv")]["value"].item()
    assert at_16 == short["metrics"]["tv"]
