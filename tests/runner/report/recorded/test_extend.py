"""Seeds added to a recorded table, its runs gone: the record that all runs together would have given."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from runner import table
from runner.config.sources.edited_files import forget_files
from runner.files.atomic_files import read_json, write_json
from runner.report.page.kept_overrides import kept_overrides
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
    - {row: DMALA, sampler: dmala}
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

SWEEP = ("-m", "+experiment=grown", "scale=smoke")
RECORD = Path("outputs") / "record" / "grown_smoke"

Command = Callable[..., int]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the experiment, all runs in ``all``, those of two seeds also in ``late``."""
    folder = tmp_path_factory.mktemp("grown")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "grown.yaml").write_text(EXPERIMENT)
    finished(folder / "all", *SWEEP, f"--config-dir={folder / 'conf'}")
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


def numbers_of(table_csv: bytes) -> pd.DataFrame:
    """A table's numbers by row, column and metric."""
    frame = pd.read_csv(io.BytesIO(table_csv), index_col=["row", "cell", "metric"])
    return frame[["mean", "lo", "hi", "n", "sd", "runs", "runs_expected", "closed_form"]]


def manifest_of(files: dict[str, bytes]) -> dict[str, Any]:
    """The manifest among a record's files, without its digest; sums of seconds rounded."""
    found: dict[str, Any] = json.loads(files["manifest.json"])
    del found["digest_of_this_file"]
    return found | {"seconds": {of: round(seconds, 9) for of, seconds in found["seconds"].items()}}


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
    assert manifest_of(grown) == manifest_of(together)
    assert len(manifest_of(grown)["tunings"]) == 2, "one for each column, of all seeds"


def test_what_was_extended_is_rendered_anew_and_extended_again(command: Command) -> None:
    for words in (["seed=0,1,2", "--record"], ["seed=3", "--extend"], ["seed=4", "--extend"]):
        assert command(*words, "output_root=all") == 0
    before = content(RECORD)
    assert (read_json(RECORD / "manifest.json") or {})["overrides"] == ["seed=0,1,2,3,4"]
    kept = kept_overrides(Path("all", "tables", "grown", "smoke"))
    assert kept == ["scale=smoke", "seed=0,1,2,3,4"], "the report reads which runs the table is of"
    assert command("output_root=gone", "--redraw") == 0
    assert content(RECORD) == before


def test_seeds_may_be_added_to_some_rows_and_later_to_the_others(command: Command) -> None:
    assert command("seed=0,1,2,3,4", "output_root=all", "--record") == 0
    together = content(RECORD)
    shutil.rmtree(RECORD)
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    three = content(RECORD)
    shutil.rmtree("all")
    assert command("seed=3,4", "row=DMALA,DULA", "output_root=late", "--extend") == 0
    some = content(RECORD)
    five, before, now = (numbers_of(files["table.csv"]) for files in (together, three, some))
    more = now.index.get_level_values("row").isin(["DMALA", "DULA"])
    pd.testing.assert_frame_equal(now[more], five[more])
    pd.testing.assert_frame_equal(now[~more], before[~more])
    assert some["comparisons.csv"] == three["comparisons.csv"], "paired by the three seeds of both rows"
    assert manifest_of(some)["runs"] == {"by_status": {"done": 32}, "done": 32, "expected": 32}
    assert command("output_root=gone", "--redraw") == 0
    assert content(RECORD) == some
    assert command("seed=3,4", "sampler=gibbs,exact_draws", "output_root=late", "--extend") == 0
    grown = content(RECORD)
    for name in grown.keys() - {"manifest.json", DIGESTS}:
        assert grown[name] == together[name], name
    assert manifest_of(grown) == manifest_of(together)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["seed=2,3"], "it has seed 2 already; give the new ones alone"),
        (["seed=3", "task.chains=5"], "this table has task.chains=5, which it lacks"),
        (["seed=3,7"], "8 of the 16 new runs are done, and all must be"),
    ],
)
def test_what_is_no_other_seed_of_the_same_runs_is_refused(
    command: Command, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    before = content(RECORD)
    assert refused(command, capsys, *words) == said
    assert content(RECORD) == before


def refused(command: Command, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Why the record cannot be extended."""
    capsys.readouterr()
    assert command(*words, "output_root=all", "--extend") == 2
    before, _, why = capsys.readouterr().err.partition(" cannot be extended: ")
    assert before == f"error: The record {RECORD}"
    return why.rstrip(".\n")


def test_other_overrides_are_named(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    few = "target.components=2"
    finished(Path("all"), *SWEEP, "seed=0", few, "task.steps=20", f"--config-dir={Path.cwd() / 'conf'}")
    assert command("seed=0", few, "task.steps=20", "output_root=all", "--record") == 0
    assert refused(command, capsys, "seed=3", few) == "it has task.steps=20, which this table lacks"
    said = refused(command, capsys, "seed=3", few, "task.steps=30")
    assert said == "it has task.steps=20, and this table task.steps=30"


def test_a_record_with_missing_runs_is_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Its missing seeds would be counted as missing for ever."""
    assert command("output_root=late", "--record") == 0
    assert refused(command, capsys, "seed=7") == "16 of its 40 runs were done, and all must be"


GROWTHS = "  growths: [{metric: jump, x: target.components, symbol: c, rows: [DMALA]}]\n"
EXACT = "    - {row: expected, exact: [mmd_exact], suffix: expected}"
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
        (
            EXPERIMENT.replace("target.components: 4}}", "target.components: 4}, table: false}"),
            "its column 'four' is used and not shown",
        ),
        (
            EXPERIMENT.replace("role: draws}", f"role: draws}}\n{EXACT}"),
            "its row 'expected' has exact values of other rows' runs",
        ),
        (
            EXPERIMENT.replace("direction: none}", "direction: none, rows: [DMALA]}").replace(GROWTHS, ""),
            "seeds.csv lacks values of jump of 'Gibbs' in 'two'",
        ),
    ],
    ids=["curves", "growth along the runs", "a column of growths alone", "exact values", "rows of a metric"],
)
def test_what_needs_all_runs_is_refused(
    command: Command, experiment: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(experiment)
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    assert refused(command, capsys, "seed=3,4") == said


def test_a_row_that_would_be_lost_is_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """It has no job of its own, or none any more: a table of the runs at hand would lack it."""
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    changed(EXPERIMENT.replace("    - {row: DULA, sampler: dula, sampler.step_size: 20}\n", ""))
    said = refused(command, capsys, "seed=3,4", "row=DMALA")
    assert said == "no run of 'DULA' in 'two' is planned now"
    shutil.rmtree(RECORD)
    changed(EXPERIMENT.replace("role: draws}", f"role: draws}}\n{EXACT}"))
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    said = refused(command, capsys, "seed=3,4", "row=DMALA")
    assert said == "its row 'expected' has exact values of other rows' runs"


def test_what_another_choice_puts_in_the_same_place_is_refused(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """No column tells the step sizes apart, and both only choose among the runs."""
    changed(EXPERIMENT.replace("sampler.step_size: 20}", "sampler.step_size: [10, 20]}"))
    words = ("seed=0,3", "row=DULA", "sampler.step_size=10")
    finished(Path("all"), *SWEEP, *words, f"--config-dir={Path.cwd() / 'conf'}")
    assert command("seed=0", "row=DULA", "sampler.step_size=20", "output_root=all", "--record") == 0
    said = refused(command, capsys, "seed=3", *words[1:])
    assert said == "it has sampler.step_size=20, and this table sampler.step_size=10"


def changed(experiment: str) -> None:
    """Puts another experiment in the place of the one that there is."""
    Path("conf", "experiment", "grown.yaml").write_text(experiment)
    forget_files()


def test_a_metric_that_the_record_lacks_is_refused(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its mean would be of the new seeds alone."""
    metric = "    - {metric: jump, name: Jump, direction: none}\n"
    changed(EXPERIMENT.replace(metric, "").replace(GROWTHS, ""))
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    changed(EXPERIMENT)
    said = refused(command, capsys, "seed=3,4")
    assert said == "this table has the metric jump, which it lacks"


def test_another_budget_is_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The experiment was changed since."""
    assert command("seed=0,1,2", "output_root=all", "--record") == 0
    manifest = read_json(RECORD / "manifest.json") or {}
    manifest["budget"]["steps"] = 20
    rewritten(manifest)
    assert refused(command, capsys, "seed=3,4") == "its task.steps is 20, and that of this table 30"
    del manifest[SAID]["sources"]
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
        "runs": {"done": 3, "expected": 3, "by_status": {"done": 3}},
        "seconds": {"sampling": 1.5, "tuning": 5.0},
        "tunings": {"one": 2.0, "shared": 3.0},
        "evaluations_per_chain": {"a": "100 to 2,000", "b": "7"},
        "seeds": [0, 1],
        **{"git": [{"commit": "b"}], "device": ["x"], "threads": [1], "packages": [{"torch": "2"}]},
    }
    now: dict[str, Any] = {
        **then,
        "overrides": ["row=a", "seed=5"],
        "runs": {"done": 2, "expected": 2, "by_status": {"done": 2}},
        "tunings": {"shared": 3.0, "other": 1.0},
        "evaluations_per_chain": {"a": "5,000", "b": "7"},
        "seeds": [5],
        "git": [{"commit": "a"}],
        "threads": [1, 2],
        "scale": "paper",
    }
    assert merged(then, now) == {
        "overrides": ["row=a", "seed=0,1,5"],
        "runs": {"done": 5, "expected": 5, "by_status": {"done": 5}},
        "seconds": {"sampling": 3.0, "tuning": 6.0},
        "tunings": {"one": 2.0, "shared": 3.0, "other": 1.0},
        "evaluations_per_chain": {"a": "100 to 5,000", "b": "7"},
        "seeds": [0, 1, 5],
        "git": [{"commit": "a"}, {"commit": "b"}],
        "device": ["x"],
        "threads": [1, 2],
        "packages": [{"torch": "2"}],
        "scale": "paper",
    }
