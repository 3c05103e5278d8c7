"""A recorded table rendered anew, its runs gone: the files that recording them would write, or none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from runner import table
from runner.files.atomic_files import read_json, write_json
from runner.report.recorded import redraw as redraw_module
from runner.report.recorded import replaced as replaced_module
from runner.report.recorded.replaced import replaced
from runner.report.recorded.said import SAID
from runner.report.recorded.seed_values import read_labelled
from runner.store.folder_digests import DIGESTS, FILES, damaged_files, write_digests
from runner.store.run_store import Store
from runner.sweep.jobs import experiment_jobs
from tests.support.commands import content, finished

EXPERIMENT = """# @package _global_
experiment: anew
sweep:
  grid: {target: [mog], target.components: [2, 4, 8]}
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: DMALA, sampler: dmala, sampler.step_size: 20}
    - {row: "DMALA, long", sampler: dmala, sampler.step_size: 40}
    - {row: DULA, sampler: dula, sampler.step_size: 20}
    - {row: exact draws, sampler: exact_draws}
  seeds: {smoke: 3}
  overrides:
    {task.start: uniform, metric: "[mmd_exact,emc,jump]", task.steps: 30, task.chains: 4, task.record: 4}
table:
  title: A table
  caption: For the tests.
  rows:
    - {row: Gibbs}
    - {row: DMALA, note: A note.}
    - {row: "DMALA, long"}
    - {row: DULA}
    - {row: exact draws, role: draws}
  columns:
    - {label: two, where: {target.components: 2}}
    - {label: four, where: {target.components: 4}}
    - {label: eight, where: {target.components: 8}, table: false}
  metrics:
    - {metric: mmd_exact, name: MMD, direction: min, scale: 1.0e-3, floor: exact draws}
    - {metric: emc, name: EMC, direction: max}
    - {metric: jump, name: Jump, direction: none}
  comparisons: [{metric: emc, rows: [DMALA, Gibbs]}]
  growths:
    - {metric: jump, x: target.components, symbol: c, rows: [DMALA]}
    - {metric: emc, x: step, symbol: N, along: two, rows: [DMALA, Gibbs]}
  reduced: {smoke: few steps}
  notes: [A note on all.]
  figures:
    - {name: figure, panels: [{kind: intervals, title: MMD, metric: mmd_exact, columns: [two]}]}
    - {name: curves, panels: [{kind: against_steps, title: EMC, metric: emc, columns: [two]}]}
"""
NOTE = "the images are a subset"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with a record of a sweep that has a failed and a missing run, and its command's overrides."""
    folder = tmp_path_factory.mktemp("anew")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "anew.yaml").write_text(EXPERIMENT)
    words = ["scale=smoke", f"hydra.searchpath=[file://{folder / 'conf'}]"]
    root = finished(folder / "scratch", "-m", "+experiment=anew", *words)
    jobs = experiment_jobs("anew", [*words, f"output_root={root}"])
    store = Store(root)
    ids = {(job.row, int(job.config.target.components)): job.run_ids for job in jobs}
    (store.run(ids["Gibbs", 2][1]).path / "summary.json").unlink()
    store.run(ids["Gibbs", 2][1]).fail({"error": "ValueError", "message": "no", "status": "failed"})
    shutil.rmtree(store.run(ids["DULA", 4][0]).path)
    noted = store.run(ids["DMALA", 4][2]).path / "summary.json"
    write_json(noted, (read_json(noted) or {}) | {"notes": [NOTE]})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert table.main(["anew", *words, f"output_root={root}", "--record"]) == 0
    return folder, words


@pytest.fixture
def record(whole: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the record, below the current folder."""
    shutil.copytree(whole[0] / "outputs", tmp_path / "outputs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "outputs" / "record" / "anew_smoke"


def redraw(whole: tuple[Path, list[str]]) -> int:
    """The command, where no run is."""
    return table.main(["anew", *whole[1], "output_root=gone", "--redraw"])


def changed(record: Path, name: str, text: str) -> None:
    """Writes another `text` into a file of the record, and digests that hold."""
    (record / name).write_text(text)
    write_digests(record, (read_json(record / DIGESTS) or {})[FILES])


def frame_of(record: Path) -> pd.DataFrame:
    return read_labelled(record / "table.csv")


def test_marks_and_pages_are_those_of_a_table_recorded_afresh(
    whole: tuple[Path, list[str]], record: Path
) -> None:
    before = content(record)
    page = before["table.md"].decode()
    for said in (
        "The images are a subset.",
        "(n=2 of 3)",
        "closed form",
        "1 failed, 1 missing",
        "Jump, DMALA",
    ):
        assert said in page
    frame = frame_of(record)
    frame["best"], frame["within_floor"], frame["p_value"] = ~frame["best"], ~frame["within_floor"], 0.5
    changed(record, "table.csv", frame.to_csv(index=False))
    for name in ("table.md", "table.tex", "comparisons.csv", "growths.csv", "figure.png"):
        changed(record, name, "of an earlier version")
    assert redraw(whole) == 0
    assert content(record) == before


@pytest.mark.parametrize("later", ["comparisons.csv", "growths.csv"])
def test_a_record_of_before_gets_the_file(whole: tuple[Path, list[str]], record: Path, later: str) -> None:
    before = content(record)
    (record / later).unlink()
    write_digests(record, [name for name in (read_json(record / DIGESTS) or {})[FILES] if name != later])
    assert redraw(whole) == 0
    assert content(record) == before


@pytest.mark.parametrize(
    ("key", "name", "said"),
    [
        ("  comparisons:", "comparisons.csv", "DMALA against Gibbs"),
        ("    - {metric: jump, x:", "growths.csv", "Jump, DMALA: "),
    ],
)
def test_what_the_experiment_no_longer_compares_or_fits_is_removed(
    whole: tuple[Path, list[str]], record: Path, tmp_path: Path, key: str, name: str, said: str
) -> None:
    assert said in (record / "table.md").read_text()
    shutil.copytree(whole[0] / "conf", tmp_path / "conf")
    (line,) = [line for line in EXPERIMENT.splitlines(keepends=True) if line.startswith(key)]
    (tmp_path / "conf" / "experiment" / "anew.yaml").write_text(EXPERIMENT.replace(line, ""))
    assert redraw((tmp_path, ["scale=smoke", f"hydra.searchpath=[file://{tmp_path / 'conf'}]"])) == 0
    assert not (record / name).exists()
    assert damaged_files(record) == []
    assert said not in (record / "table.md").read_text()


def test_seeds_that_are_not_those_of_the_table_are_refused(
    whole: tuple[Path, list[str]], record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = read_labelled(record / "seeds.csv")
    at = (seeds["row"] == "DMALA") & (seeds["cell"] == "four") & (seeds["metric"] == "emc")
    seeds.loc[at, "1"] *= 1 + 1e-6
    changed(record, "seeds.csv", seeds.to_csv(index=False))
    before = content(record)
    assert redraw(whole) == 2
    said = capsys.readouterr().err
    assert "is left as it is: emc of DMALA in four is" in said
    assert "by seeds.csv" in said
    assert content(record) == before


@pytest.mark.parametrize(
    ("label", "other", "said"),
    [
        ("DULA", "DOLA", "it has the row 'DOLA', and the experiment has only DMALA, DMALA, long, DULA"),
        ("four", "vier", "it has the column 'vier', and the experiment has only four, two"),
        ("jump", "leap", "it has the metric 'leap', and the experiment has only emc, jump, mmd_exact"),
    ],
)
def test_what_the_experiment_no_longer_has_is_refused(
    whole: tuple[Path, list[str]], record: Path, label: str, other: str, said: str, capsys: Any
) -> None:
    for name in ("table.csv", "seeds.csv"):
        changed(record, name, (record / name).read_text().replace(f"{label},", f"{other},"))
    before = content(record)
    assert redraw(whole) == 2
    assert said in capsys.readouterr().err
    assert content(record) == before


def test_values_by_seed_that_a_test_needs_and_are_not_kept_are_refused(
    whole: tuple[Path, list[str]], record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in (record / "seeds.csv").read_text().splitlines() if ",emc," not in line]
    changed(record, "seeds.csv", "\n".join(lines) + "\n")
    before = content(record)
    assert redraw(whole) == 2
    assert "seeds.csv has no values of emc of Gibbs in two" in capsys.readouterr().err
    assert content(record) == before


def test_a_record_that_keeps_nothing_of_what_its_runs_said_gets_its_figures_alone(
    whole: tuple[Path, list[str]], record: Path
) -> None:
    manifest = read_json(record / "manifest.json") or {}
    write_json(record / "manifest.json", {key: manifest[key] for key in manifest if key != SAID})
    for name in ("table.md", "figure.png"):
        changed(record, name, "of an earlier version")
    assert redraw(whole) == 0
    assert (record / "table.md").read_text() == "of an earlier version"
    assert (record / "figure.png").read_bytes()[1:4] == b"PNG"
    assert damaged_files(record) == []


@pytest.mark.parametrize("files", range(5))
def test_what_is_cut_short_between_files_leaves_the_old_record(
    whole: tuple[Path, list[str]], record: Path, files: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(record, "table.md", "of an earlier version")
    before, copied = content(record), list[Path]()

    def copy(source: Path, target: Path) -> None:
        if len(copied) == files:
            raise KeyboardInterrupt
        copied.append(shutil.copyfile(source, target))

    monkeypatch.setattr(redraw_module, "copyfile", copy)
    with pytest.raises(KeyboardInterrupt):
        table.redraw_record("anew", [*whole[1], "output_root=gone"])
    assert content(record) == before
    assert [path.name for path in record.parent.iterdir()] == [record.name]


def test_a_folder_whose_copy_cannot_take_its_place_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rename = tmp_path / "folder", Path.rename
    folder.mkdir()
    (folder / "file").write_text("old")

    def refused(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    monkeypatch.setattr(replaced_module, "exchanged", lambda *_: False)
    with pytest.raises(OSError, match="no"), replaced(folder) as new:
        (new / "file").write_text("new")
    assert (folder / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def killed_at(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on this process ends, as if killed, after so many renames."""
    rename, renames = Path.rename, list[Path]()

    def renamed(self: Path, target: Path) -> Path:
        if len(renames) == place:
            os._exit(9)
        renames.append(self)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_record_stands_after_a_kill_between_renames(
    whole: tuple[Path, list[str]], record: Path, place: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once where the system can change two folders; elsewhere the next command brings it back."""
    changed(record, "table.md", "of an earlier version")
    before = content(record)
    command = lambda: table.redraw_record("anew", [*whole[1], "output_root=gone"])  # noqa: E731
    if at_once:
        require_exchange(record.parent / "here")
    else:
        monkeypatch.setattr(replaced_module, "exchanged", lambda *_: False)
    if not (child := os.fork()):
        killed_at(place, monkeypatch)
        command()
        os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert killed is (place < 2 and not at_once)
    assert record.exists() is not (killed and place == 1)
    if record.exists():
        assert (content(record) == before) is killed
        assert damaged_files(record) == []
    command()
    assert damaged_files(record) == []
    assert (record / "table.md").read_text() != "of an earlier version"


def require_exchange(place: Path) -> tuple[Path, Path]:
    """Two folders that have changed places; where the system cannot do that the test is skipped."""
    one, other = place / "one", place / "other"
    for folder in (one, other):
        folder.mkdir(parents=True)
        (folder / folder.name).touch()
    if not replaced_module.exchanged(one, other):
        pytest.skip("no two folders can change places at once here")
    return one, other


def test_two_folders_change_places_where_the_system_can(tmp_path: Path) -> None:
    one, other = require_exchange(tmp_path)
    assert (one / "other").exists()
    assert (other / "one").exists()
    assert not replaced_module.exchanged(one, tmp_path / "nothing")
