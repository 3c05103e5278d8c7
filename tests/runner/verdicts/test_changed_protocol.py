"""Records that were made with overrides: those that change the protocol are a difference, others are none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from runner.files.atomic_files import write_json
from runner.store.folder_digests import DIGESTS
from runner.verdicts.__main__ import main
from runner.verdicts.changed_protocol import changing, differences
from runner.verdicts.records import read_records


def overridden(folder: Path, *overrides: str, **changes: str) -> None:
    """Makes the record in `folder` one that was made with `overrides`."""
    (folder / DIGESTS).unlink()
    content = json.loads((folder / "manifest.json").read_text())
    write_json(folder / "manifest.json", content | {"overrides": overrides} | changes)


@pytest.mark.parametrize(
    ("overrides", "differs"),
    [
        (["task.steps=20000"], {"budget": "recorded with task.steps=20000"}),
        (["seed=0,1", "scale.steps=7"], {"budget": "recorded with scale.steps=7"}),
        (
            ["target.components=9", "++dtype=float64"],
            {"target": "recorded with target.components=9", "budget": "recorded with ++dtype=float64"},
        ),
        (["sampler=dmala", "seed=0,1", "compile=true", "device=cuda", "scale.name=paper-dmala"], {}),
        (["target.components=8", "streams=independent", "threads=2"], {}),
        (["row=DMALA,ACS"], {}),
        (["data.root=/somewhere/else", "data.verify=false", "scale.seeds=3"], {}),
        (["sampler=gone"], {"budget": "recorded with sampler=gone"}),
        ([], {}),
    ],
)
def test_an_override_that_does_more_than_choose_runs_is_a_difference(
    overrides: list[str], differs: dict[str, str]
) -> None:
    assert differences(changing("pt_table1", "paper", overrides)) == differs


def test_a_record_of_another_protocol_is_not_comparable(root: Path) -> None:
    """Ten times the steps were `as published`, under the command that measures the others."""
    overridden(root / "record" / "edlp_figure11_paper", "task.steps=10000", "seed=0,1")
    main([f"output_root={root}"])
    found = pd.read_csv(root / "record" / "verdicts" / "verdicts.csv", keep_default_na=False)
    own = found[found["table"] == "Figure 11"]
    assert set(own["verdict"]) == {"not comparable"}
    assert set(own["budget"]) == {""}
    assert all("budget: recorded with task.steps=10000" in differs for differs in own["differs"])
    assert set(own["command"]) == {"make edlp-figure11 SCALE=paper ARGS='task.steps=10000 seed=0,1'"}


def test_a_record_of_the_protocol_comes_before_those_of_others(root: Path) -> None:
    """Which fill nothing of what it lacks."""
    overridden(root / "record" / "pt_table1_paper", "task.steps=20000")
    part = root / "record" / "pt_table1_quick-long"
    shutil.copytree(root / "record" / "pt_table1_quick", part)
    overridden(part, "task.steps=9000", scale="quick-long")
    found = read_records(root / "record", ["pt_table1"]).of("pt_table1")
    assert [(record.scale, record.changed) for record in found] == [
        ("quick", ()),
        ("paper", ("task.steps=20000",)),
        ("quick", ("task.steps=9000",)),
    ]


def test_an_override_that_cannot_be_read_is_one_sentence(root: Path) -> None:
    overridden(root / "record" / "pt_table1_paper", "task.steps")
    (refused,) = read_records(root / "record", ["pt_table1"]).refused
    assert refused.startswith("pt_table1_paper is left out: An override has the form key=value, 'task.steps'")
