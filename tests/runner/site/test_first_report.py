"""A first report does nothing twice that takes long, and two of the same store are the same files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import OmegaConf

from runner.execution.manifest import COMMAND_LINE
from runner.site.build import Report
from runner.site.content.script_json import script_json
from runner.site.index import plans
from runner.site.pages.site_folder import INDEX
from runner.store.run_folder import RunFolder
from tests.support.commands import finished
from tests.support.site.made_up_store import made_up_store

SMALL = ("target=bernoulli4", "sampler=gibbs", "task.steps=20", "task.chains=2", "metric=acceptance")


def test_each_configuration_is_read_once_and_composed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, hydra = made_up_store(tmp_path)
    read, config, composed = Counter[str](), RunFolder.config, list[object]()

    def counted(folder: RunFolder) -> Mapping[str, Any] | None:
        read[folder.run_id] += 1
        return config(folder)

    monkeypatch.setattr(RunFolder, "config", counted)
    only = SimpleNamespace(to_container=OmegaConf.to_container, create=composed.append)
    monkeypatch.setattr(plans, "OmegaConf", only)
    report = Report(root, root / "report", hydra)
    report.build()
    done = [run_id for run_id, run in report.index.runs.items() if run.done]
    assert {read[run_id] for run_id in done} == {1}
    assert (composed, report.index.composed) == ([], {})


def test_two_reports_of_a_store_are_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands stood in the order of a set, which is another one in each process."""
    for seed in range(6):
        monkeypatch.setenv(COMMAND_LINE, f"python -m runner seed={seed}")
        root = finished(tmp_path, *SMALL, f"seed={seed}")
    report = Report(root, tmp_path / "one")
    report.build()
    told = [run.about["command"] for run in report.index.runs.values()]
    data = (tmp_path / "one" / "data" / "runs.js").read_text()
    assert sorted(told, key=lambda command: data.rindex(f'"{command}"')) == told
    Report(root, tmp_path / "two").build()
    made = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    for path in made:
        if path.name != INDEX:
            assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


def test_numbers_that_are_not_finite_are_null_and_others_have_twelve_digits() -> None:
    class Special(float):
        pass

    content = {"a": (1 / 3, float("nan"), True, None, "<", 2**60), "b": [Special("inf"), Special(0.1 + 0.2)]}
    said = '{"a":[0.333333333333,null,true,null,"\\u003c",1152921504606846976],"b":[null,0.3]}'
    assert script_json(content) == said
