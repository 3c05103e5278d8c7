"""Seeds added to a recorded table, its runs gone: the record that all runs together would have given."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner import table
from runner.config.sources.edited_files import forget_files
from runner.files.atomic_files import read_json, write_json
from runner.report.recorded.merged_manifest import merged
from runner.report.recorded.said import SAID
from runner.store.folder_digests import DIGESTS, FILES, damaged_files, write_digests
from tests.support.commands import content, finished

EXPERIMENT = """# @package _global_
experiment: grown
sweep:
  grid: {target: [mog], target.components: [2, 4]}
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: DMALA, sampler: dmala, sampler.step_size: 20}
    - {row: DULA, sampler: dula, sampler.step_size: 20}
    - {row: exact draws, sampler: exact_draws}
  seeds: {smoke: 5}
  overrides:
    {task.start: uniform, metric: "[mmd_exact,emc,jump]", task.steps: 30, task.chains: 4, task.record: 4}
table:
  title: A table
  caption: For the tests.
  rows:
    - {row: Gibbs}
    - {row: DMALA}
    - {row: DULA}
    - {row: exact draws, role: draws}
  columns:
    - {label: two, where: {target.components: 2}}
    - {label: four, where: {target.components: 4}}
  metrics:
    - {metric: mmd_exact, name: MMD, direction: min, scale: 1.0e-3, floor: exact draws}
    - {metric: emc, name: EMC, direction: max}
    - {metric: jump, name: Jump, direction: none}
  comparisons: [{metric: emc, rows: [DMALA, Gibbs]}]
  growths: [{metric: jump, x: target.components, symbol: c, rows: [DMALA]}]
  figures:
    - {name: figure, panels: [{kind: intervals, title: MMD, metric: mmd_exact, columns: [two]}]}
"""
CURVES = "    - {name: curves, panels: [{kind: against_steps, title: EMC, metric: emc, columns: [two]}]}\n"

RECORD = Path("outputs") / "record" / "grown_smoke"

Command = Callable[..., int]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the experiment, all runs in ``all``, those of two seeds also in ``late``."""
    folder = tmp_path_factory.mktemp("grown")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "grown.yaml").write_text(EXPERIMENT)
    words = ["-m", "+experiment=grown", "scale=smoke", f"--config-dir={folder / 'conf'}"]
    finished(folder / "all", *words)
    shutil.copytree(folder / "all", folder / "late")
    for path in (folder / "late" / "runs").iterdir():
        if (read_json(path / "summary.json") or {})["seed"] < 3:
            shutil.rmtree(path)
    return folder


@pytest.fixture
def command(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The table's command, in a copy of the folder."""
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = ["scale=smoke", f"hydra.searchpath=[file://{tmp_path / 'conf'}]"]
    return lambda *more: table.main(["grown", *words, *more])


def without_costs(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest without its digest, and its seconds but for rounding."""
    kept = {key: value for key, value in manifest.items() if key not in ("seconds", "digest_of_this_file")}
    return kept | {"sampling": pytest.approx(manifest["seconds"]["sampling"])}


def test_the_record_is_that_of_all_runs_together(command: Command) -> None:
    assert command("seed=0,1,2,3,4", "output_root=all", "--record") == 0
    together = content(RECORD)
    shutil.rmtree(RECORD)
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    (RECORD / "reading.md").write_text("Read.")
    shutil.rmtree("all")
    assert command("seed=3,4", "output_root=late", "--extend") == 0
    assert damaged_files(RECORD) == []
    grown = content(RECORD)
    assert grown.pop("reading.md") == b"Read."
    assert grown.keys() == together.keys()
    for name in grown.keys() - {"manifest.json", DIGESTS}:
        assert grown[name] == together[name], name
    shutil.copytree(RECORD, "grown")
    (RECORD / "manifest.json").write_bytes(together["manifest.json"])
    one, other = (read_json(Path(root) / "manifest.json") or {} for root in ("grown", str(RECORD)))
    assert without_costs(one) == without_costs(other)


def test_what_was_extended_is_rendered_anew_and_extended_again(command: Command) -> None:
    for words in (["seed=0,1,2", "--record"], ["seed=3", "--extend"], ["seed=4", "--extend"]):
        assert command(*words, "output_root=all") == 0
    before = content(RECORD)
    assert (read_json(RECORD / "manifest.json") or {})["overrides"] == ["seed=0,1,2,3,4"]
    assert command("output_root=gone", "--redraw") == 0
    assert content(RECORD) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["seed=2,3"], "it has seed 2 of 'Gibbs' in 'two' already; give the new ones alone"),
        (["seed=3", "row=DMALA,DULA"], "this table has row=DMALA,DULA, which it has not"),
        (["seed=3", "task.chains=5"], "this table has task.chains=5, which it has not"),
        (["seed=7"], "it has 'Gibbs' in 'two', of which no run of this table is done"),
    ],
)
def test_what_is_no_other_seed_of_the_same_runs_is_refused(
    command: Command, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    before = content(RECORD)
    capsys.readouterr()
    assert command(*words, "output_root=all", "--extend") == 2
    error = capsys.readouterr().err
    assert f"The record {RECORD} cannot be extended: {said}.\n" in error
    assert content(RECORD) == before


def test_a_seed_that_only_some_rows_have_is_refused(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are compared by seed: the test would be of fewer seeds than the table says."""
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    summaries = {path: read_json(path) or {} for path in Path("late", "runs").glob("*/summary.json")}
    gone = next(path for path, found in summaries.items() if found["seed"] == 4 and found["exact"] is False)
    shutil.rmtree(gone.parent)
    assert command("seed=3,4", "output_root=late", "--extend") == 2
    assert "seed 4 of 'DULA' in '" in capsys.readouterr().err


GROWTHS = "  growths: [{metric: jump, x: target.components, symbol: c, rows: [DMALA]}]\n"
ALONG = """  growths:
    - {metric: jump, x: target.components, symbol: c, rows: [DMALA]}
    - {metric: emc, x: step, symbol: N, along: two, rows: [DMALA, Gibbs]}
"""


@pytest.mark.parametrize(
    ("experiment", "said"),
    [
        (EXPERIMENT + CURVES, "its figure 'curves' shows the curves, draws or states of all runs"),
        (
            EXPERIMENT.replace(GROWTHS, ALONG),
            "it says how metrics grow along the runs, for which all of them are needed",
        ),
    ],
    ids=["curves", "growth along the runs"],
)
def test_what_needs_all_runs_is_refused(
    command: Command, experiment: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("conf", "experiment", "grown.yaml")
    path.write_text(experiment)
    forget_files()
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    assert command("seed=3,4", "output_root=all", "--extend") == 2
    assert said in capsys.readouterr().err


def test_another_budget_is_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The experiment was changed since."""
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    manifest = read_json(RECORD / "manifest.json") or {}
    manifest["budget"]["steps"] = 20
    rewritten(manifest)
    assert command("seed=3,4", "output_root=all", "--extend") == 2
    assert "cannot be extended: its task.steps is 20, and that of this table 30." in capsys.readouterr().err
    del manifest[SAID]
    rewritten(manifest)
    assert command("seed=3,4", "output_root=all", "--extend") == 2
    assert f"The record {RECORD} is of an earlier version" in capsys.readouterr().err


def rewritten(manifest: dict[str, Any]) -> None:
    """Puts another manifest into the record, with digests that hold."""
    write_json(RECORD / "manifest.json", manifest)
    write_digests(RECORD, (read_json(RECORD / DIGESTS) or {})[FILES])


def test_there_must_be_a_record_that_is_whole(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("seed=3,4", "output_root=all", "--extend") == 2
    assert f"There is no recorded table in {RECORD}." in capsys.readouterr().err
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    with (RECORD / "table.csv").open("a") as file:
        file.write("edited\n")
    assert command("seed=3,4", "output_root=all", "--extend") == 2
    assert f"The record {RECORD} is not as it was written: table.csv" in capsys.readouterr().err


def test_what_two_manifests_say_is_put_together() -> None:
    then: dict[str, Any] = {
        "overrides": ["row=a", "seed=0,1"],
        "runs": {"done": 3, "expected": 4, "by_status": {"done": 3, "failed": 1}},
        "seconds": {"sampling": 1.5, "tuning": 0},
        "evaluations_per_chain": {"a": "100 to 2,000", "b": "7"},
        "seeds": [0, 1],
        **{"git": [{"commit": "b"}], "device": ["x"], "threads": [1], "packages": [{"torch": "2"}]},
    }
    now: dict[str, Any] = {
        **then,
        "overrides": ["row=a", "seed=5"],
        "runs": {"done": 2, "expected": 2, "by_status": {"done": 2}},
        "evaluations_per_chain": {"a": "5,000", "b": "7"},
        "seeds": [5],
        "git": [{"commit": "a"}],
        "threads": [1, 2],
        "scale": "paper",
    }
    assert merged(then, now) == {
        "overrides": ["row=a", "seed=0,1,5"],
        "runs": {"done": 5, "expected": 6, "by_status": {"done": 5, "failed": 1}},
        "seconds": {"sampling": 3.0, "tuning": 0},
        "evaluations_per_chain": {"a": "100 to 5,000", "b": "7"},
        "seeds": [0, 1, 5],
        "git": [{"commit": "a"}, {"commit": "b"}],
        "device": ["x"],
        "threads": [1, 2],
        "packages": [{"torch": "2"}],
        "scale": "paper",
    }
