"""Tables that are recorded where a record is already: what is refused, what is removed, what is said when."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from runner import table
from runner.config.sources.edited_files import forget_files
from runner.files.atomic_files import read_json, write_json
from runner.store.folder_digests import DIGESTS, FILES, damaged_files
from tests.support.commands import content, finished

EXPERIMENT = """
# @package _global_
experiment: again
again: {steps: {smoke: 4}}
sweep:
  grid: {target: [mog], target.components: [2, 4]}
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: DMALA, sampler: dmala}
  overrides:
    {task.start: uniform, task.steps: "'${again.steps.${scale.name}}'", task.chains: 4, metric: standard}
  seeds: {smoke: 2}
table:
  title: Recorded again
  caption: For the tests.
  rows: [{row: Gibbs}, {row: DMALA}]
  columns:
    - {label: two, where: {target.components: 2}}
    - {label: four, where: {target.components: 4}}
  metrics: [{metric: emc, name: EMC, direction: max}]
  figures:
    - {name: figure, panels: [{kind: intervals, title: EMC, metric: emc, columns: [two]}]}
    - {name: other, panels: [{kind: intervals, title: EMC, metric: emc, columns: [two]}]}
"""
OTHER = EXPERIMENT.splitlines()[-1]

SWEEP = ("-m", "+experiment=again", "scale=smoke")
RECORD = Path("outputs") / "record" / "again_smoke"

Command = Callable[..., int]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the experiment, and its runs in ``scratch``."""
    folder = tmp_path_factory.mktemp("again")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "again.yaml").write_text(EXPERIMENT)
    finished(folder / "scratch", *SWEEP, f"--config-dir={folder / 'conf'}")
    return folder


@pytest.fixture
def command(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The table's command, in a copy of the folder."""
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = ["scale=smoke", f"hydra.searchpath=[file://{tmp_path / 'conf'}]", "output_root=scratch"]
    return lambda *more: table.main(["again", *words, *more])


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        (["sampler=dmala"], "the row 'Gibbs'"),
        (["target.components=4"], "the column 'two'"),
        (["seed=0"], "seed 1 of 'Gibbs' in 'two'"),
    ],
)
def test_a_part_does_not_take_the_place_of_the_whole_table(
    words: list[str], lacks: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is recorded beside it by another name of the scale, or once the whole table's is taken away."""
    assert command("--record") == 0
    (RECORD / "reading.md").write_text("Read.")
    before = content(RECORD)
    capsys.readouterr()
    assert command(*words, "--record") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"The record {RECORD} has {lacks}, which this table lacks" in said.err
    assert ("--extend adds new seeds to it" in said.err) is lacks.startswith("seed")
    assert "scale.name=smoke-PART records" in said.err
    assert content(RECORD) == before
    words = [*words, "task.steps=4"]
    assert command(*words, "scale.name=smoke_part", "--record") == 2
    assert "scale.name=smoke_part was given; use scale.name=smoke-part." in capsys.readouterr().err
    assert command(*words, "scale.name=smoke-part", "--record") == 0
    assert content(RECORD) == before
    (RECORD / "table.csv").unlink()
    assert command(*words, "--record") == 0
    assert (RECORD / "reading.md").read_text() == "Read."


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], ["task.chains=5"], "this table has task.chains=5, which it lacks"),
        (["task.chains=5"], [], "it has task.chains=5, which this table lacks"),
        (["task.chains=5"], ["task.chains=6"], "it has task.chains=5, and this table task.chains=6"),
    ],
)
def test_a_table_of_changed_runs_does_not_take_the_place_of_another(
    before: list[str], after: list[str], said: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the same rows, columns and seeds, and other numbers."""
    few = ("sampler=dmala", "seed=0", "target.components=2")
    for words in {*before, *after}:
        finished(Path("scratch"), *SWEEP, *few, words, f"--config-dir={Path.cwd() / 'conf'}")
    assert command(*few, *before, "--record") == 0
    kept = content(RECORD)
    capsys.readouterr()
    assert command(*few, *after, "--record") == 2
    assert (
        f"The record {RECORD} is of other runs, {said}: scale.name=smoke-PART records"
        in capsys.readouterr().err
    )
    assert content(RECORD) == kept
    assert command(*few, *before, "--record") == 0


def test_a_record_whose_overrides_are_gone_is_of_other_runs(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--record") == 0
    path = RECORD / "manifest.json"
    write_json(path, (read_json(path) or {}) | {"overrides": ["sampler=gone"]})
    assert command("--record") == 2
    assert "is of other runs, it has sampler=gone, which this table lacks: " in capsys.readouterr().err


def test_other_ways_of_writing_and_more_seeds_are_no_other_runs(command: Command) -> None:
    few = ("sampler=dmala", "target.components=2")
    assert command(*few, "scale.seeds=1", "task.chains=4", "--record") == 0
    assert command(*few, "scale.seeds=2", "++task.chains=4", "device=cpu", "--record") == 0


def test_what_else_changes_numbers_is_other_runs(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--record") == 0
    for held in ("dtype=float64", "++scale.steps=5", "tuning.effort=4"):
        write_json(path := RECORD / "manifest.json", (read_json(path) or {}) | {"overrides": [held]})
        assert command("--record") == 2
        assert f"is of other runs, it has {held}, which" in capsys.readouterr().err


def test_a_part_is_rendered_anew_as_the_part_that_it_is(command: Command) -> None:
    """The manifest says which runs it is of; the table asks for the missing ones of these alone.

    The name of the part has no number of steps, which the manifest has.
    """
    part = RECORD.with_name("again_smoke-part")
    words = ["sampler=dmala", "target.components=2", "seed=0,1,7", "task.steps=4"]
    assert command("scale.name=smoke-part", *words, "--record") == 0
    before = content(part)
    assert b"sampler=dmala target.components=2 seed=0,1,7 task.steps=4" in before["table.md"]
    assert command("scale.name=smoke-part", "--redraw") == 0
    assert content(part) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scale.name=smoke-none"], "There is no recorded table in outputs/record/again_smoke-none."),
        (["scale.name=null", "task.steps=4"], "scale.name must be a plain name of letters, digits"),
        (["scale.name=a,b"], "again.steps.a"),
        (["~scale.name"], "Keys cannot be removed"),
        (["scale.name=../smoke", "task.steps=4"], "scale.name must be a plain name of letters, digits"),
    ],
)
def test_the_record_of_a_name_that_has_none_is_a_sentence(
    command: Command, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part's name has no steps, so that its jobs do not compose: its record is looked for before."""
    assert command(*words, "--redraw") == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_table_is_recorded_or_redrawn(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--record", "--redraw") == 2
    assert "give one of them" in capsys.readouterr().err
    assert not RECORD.exists()


def test_a_record_without_its_seeds_is_compared_by_their_number(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--record") == 0
    (RECORD / "seeds.csv").unlink()
    assert command("seed=1", "--record") == 2
    assert "has 2 seeds of 'Gibbs' in 'two', and not 1, which" in capsys.readouterr().err
    (RECORD / "table.csv").write_text("")
    assert command("--record") == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_table_with_more_takes_the_place_of_its_record(command: Command) -> None:
    assert command("sampler=dmala", "--record") == 0
    assert command("--record") == 0
    assert set(pd.read_csv(RECORD / "table.csv")["row"]) == {"Gibbs", "DMALA"}


def test_figures_of_earlier_renderings_are_neither_kept_nor_recorded(command: Command) -> None:
    assert command("--record") == 0
    reading, experiment = RECORD / "reading.md", Path("conf") / "experiment" / "again.yaml"
    reading.write_text("Read.")
    assert (RECORD / "other.png").exists()
    experiment.write_text(EXPERIMENT.replace(OTHER, ""))
    forget_files()
    rendered = Path("scratch") / "tables" / "again" / "smoke"
    (rendered / "mine.png").write_bytes(b"")
    assert command("--record") == 0
    for folder in (rendered, RECORD):
        digested = (read_json(folder / DIGESTS) or {})[FILES]
        assert not [name for name in (*digested, *content(folder)) if name.startswith("other")]
        assert "figure.png" in digested
        assert damaged_files(folder) == []
    assert reading.read_text() == "Read."
    assert (rendered / "mine.png").exists()
    assert not (RECORD / "mine.png").exists()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("place", [0, 2])
def test_recording_that_is_cut_short_leaves_the_record_as_it_was(
    command: Command, monkeypatch: pytest.MonkeyPatch, first: bool, place: int
) -> None:
    """It is written elsewhere and takes its place as a whole, so that the command can be repeated."""
    if not first:
        assert command("--record") == 0
        (RECORD / "reading.md").write_text("Kept.")
    before = content(RECORD) if RECORD.exists() else None
    copy, copied = shutil.copyfile, list[Path]()

    def cut_short(source: Path, goal: Path, **more: Any) -> Any:
        if Path(source).is_relative_to("scratch"):
            copied.append(goal)
            if len(copied) > place:
                Path(goal).write_bytes(Path(source).read_bytes()[:100])
                raise KeyboardInterrupt
        return copy(source, goal, **more)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", cut_short)
        assert command("--record") == 130
    assert (content(RECORD) if RECORD.exists() else None) == before
    assert command("--record") == 0
    assert damaged_files(RECORD) == []
    assert (RECORD / "reading.md").exists() is not first


def test_a_table_is_recorded_before_its_page_is_printed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the page, such as head, may close the pipe first."""

    def closed(_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("runner.report.page.terminal.show_page", closed)
    with pytest.raises(BrokenPipeError):
        table.render(
            "again",
            ["scale=smoke", f"hydra.searchpath=[file://{Path.cwd() / 'conf'}]", "output_root=scratch"],
            keep=True,
        )
    assert damaged_files(RECORD) == []
    assert (RECORD / "table.md").exists()
