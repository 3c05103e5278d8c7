"""A damaged result is never used: commands that run nothing show it, others set it aside and make it anew."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from matplotlib.figure import Figure

from runner import status, table, verify, wandb_sync
from runner.files.tensor_files import write_tensors
from runner.integrity.file_digest import KEY
from runner.store import verification
from runner.store.folder_digests import write_digests
from runner.store.run_store import Store
from tests.support.commands import Call, assert_left_out, finished, one, rows

SMALL = ("target=bernoulli4", "sampler=dmala", "metric=tv", "task.steps=20", "task.chains=3")
FILES = ("summary.json", "metrics.csv", "visits.npz", "config.yaml", "manifest.json")
SWEEP = ("scale=smoke", "sampler=dmala", "target.components=2", "task.chains=4", "task.steps=20")


def flip(path: Path, place: float = 0.5) -> bytes:
    """Flips a bit of a byte in the middle, or at another share of the file; what the file held."""
    whole = path.read_bytes()
    at = int(place * len(whole))
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    return whole


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output root of one finished run."""
    return finished(tmp_path_factory.mktemp("done") / "outputs", *SMALL)


@pytest.fixture
def run(done: Path, call: Call) -> Path:
    """The folder of a copy of it, in the working directory."""
    shutil.copytree(done, "outputs")
    return one("runs/*")


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_of_a_run_is_found_set_aside_and_made_again(call: Call, run: Path, name: str) -> None:
    expected = rows("outputs")
    flip(run / name)
    wrong = {path.name: path.read_bytes() for path in run.iterdir() if path.name != "lock"}
    folder = Store("outputs").run(run.name)
    assert (folder.status(), folder.summary()) == ("damaged", None)
    ended = call(*SMALL)
    assert ended.status == 0
    assert "done before" not in ended.out
    (warning,) = ended.err.splitlines()
    assert warning == (
        f"warning: the run {run} is damaged ({name}); its files were moved to {run / 'damaged-1'}, "
        "it is computed again."
    )
    assert {path.name: path.read_bytes() for path in (run / "damaged-1").iterdir()} == wrong
    assert rows("outputs") == expected
    again = call(*SMALL)
    assert (again.err, "done before" in again.out) == ("", True)


@pytest.mark.parametrize("name", ["metrics.csv", "visits.npz"])
def test_a_file_that_is_gone_is_found_too(call: Call, run: Path, name: str) -> None:
    (run / name).unlink()
    assert Store("outputs").run(run.name).status() == "damaged"
    assert f"is damaged ({name})" in call(*SMALL).err
    assert (run / name).exists()


@pytest.mark.parametrize("content", ["[]", "{}", '{"status": "done"}'])
def test_a_summary_without_digests_is_damaged(call: Call, run: Path, content: str) -> None:
    (run / "summary.json").write_text(content)
    assert Store("outputs").run(run.name).status() == "damaged"
    assert "is damaged (summary.json)" in call(*SMALL).err


def test_a_summary_without_its_own_digest_is_damaged(call: Call, run: Path) -> None:
    """Its values can then be any, though the digests of the other files are right."""
    summary = json.loads((run / "summary.json").read_text())
    del summary[KEY]
    (run / "summary.json").write_text(json.dumps(summary))
    assert Store("outputs").run(run.name).status() == "damaged"
    assert "is damaged (summary.json)" in call(*SMALL).err


def test_a_run_that_was_cut_short_is_not_called_damaged(call: Call, run: Path) -> None:
    (run / "summary.json").unlink()
    assert Store("outputs").run(run.name).status() == "interrupted"
    assert call(*SMALL).err == ""


def test_a_damaged_manifest_of_a_run_that_was_cut_short_starts_anew(call: Call, run: Path) -> None:
    (run / "summary.json").unlink()
    flip(run / "manifest.json")
    assert f"{run / 'manifest.json'} is damaged" in call(*SMALL).err
    assert len(json.loads((run / "manifest.json").read_text())["attempts"]) == 1


def test_a_tuned_result_is_used_as_written_or_tuned_again(call: Call, run: Path) -> None:
    path = one("artefacts/*.json")
    right = json.loads(path.read_text())["hyperparameters"]
    for wrong in (path.read_text().replace('"step_size": ', '"step_size": 1'), "{"):
        path.write_text(wrong)
        shutil.rmtree(run)
        assert f"{path} cannot be read" in call(*SMALL).err
        assert json.loads(path.read_text())["hyperparameters"] == right


@pytest.fixture
def experiment(call: Call) -> list[Path]:
    """The folders of the runs of a small experiment; one of them is damaged, and so is its table."""
    assert call("-m", "+experiment=pt_table5", *SWEEP).status == 0
    assert table.main(["pt_table5", *SWEEP]) == 0
    runs = sorted(Path("outputs/runs").iterdir())
    flip(runs[0] / "metrics.csv")
    return runs


def test_readers_show_damaged_runs(experiment: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    wrong, _ = experiment
    before = {path: path.read_bytes() for run in experiment for path in run.iterdir()}
    sentence = f"1 run is damaged and left out, {wrong} (metrics.csv): repeating the sweep sets it aside"
    capsys.readouterr()
    assert status.main(["pt_table5", *SWEEP]) == 0
    said = capsys.readouterr().out
    assert sentence in said
    assert "1 run is left" in said
    assert table.main(["pt_table5", *SWEEP]) == 0
    said = capsys.readouterr().out
    assert sentence in said
    assert "1 of 2 runs are done (1 damaged)" in said
    assert verify.main(["pt_table5", *SWEEP]) == 1
    assert f"damaged: {wrong / 'metrics.csv'}" in capsys.readouterr().out
    assert {path: path.read_bytes() for run in experiment for path in run.iterdir()} == before


@pytest.mark.parametrize("left", [b"", b"a: [", None])
def test_a_run_whose_configuration_is_lost_is_counted_and_named(
    left: bytes | None, done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "outputs"
    shutil.copytree(done, root)
    finished(root, *SMALL, "seed=1")
    lost = next(path for path in root.glob("runs/*") if not (done / "runs" / path.name).exists())
    config = lost / "config.yaml"
    config.unlink() if left is None else config.write_bytes(left)
    said = f"1 run is damaged and left out, {lost} (config.yaml): repeating the sweep"
    assert_left_out(said, root, capsys)


def test_nothing_damaged_is_copied_to_wandb(
    experiment: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb")
    copied: list[str] = []
    monkeypatch.setattr(
        "runner.loggers.wandb.WandbLogger.start", lambda self, run_id, *_: copied.append(run_id)
    )
    monkeypatch.setattr("runner.loggers.wandb.WandbLogger.log", lambda *_, **__: None)
    monkeypatch.setattr("runner.loggers.wandb.WandbLogger.finish", lambda *_, **__: None)
    monkeypatch.setattr("runner.loggers.wandb.WandbLogger.table", lambda *_: copied.append("table"))
    flip(Path("outputs/tables/pt_table5/smoke/table.csv"))
    capsys.readouterr()
    assert wandb_sync.main(["pt_table5", "mode=offline", *SWEEP]) == 0
    said = capsys.readouterr().out
    assert copied == [experiment[1].name]
    assert f"1 run is damaged and left out, {experiment[0]} (metrics.csv)" in said
    assert "The table outputs/tables/pt_table5/smoke is damaged (table.csv) and left out" in said


def test_verify_checks_every_file_of_a_store(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([]) == 0
    said = capsys.readouterr().out
    # Five files of the run, whose manifest is also checked by itself, and the tuned result.
    assert "7 files of 1 finished run and what they share were checked" in said
    assert "none is damaged." in said
    flip(run / "visits.npz")
    flip(one("artefacts/*.json"))
    assert verify.main(["output_root=outputs"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"damaged: {run / 'visits.npz'}", f"damaged: {one('artefacts/*.json')}"]
    assert "2 of them are damaged." in lines[2]


LEARNED = ("scale=smoke", "seed=0", "target.dataset=digits", "task.steps=20", "sampler=rbm_gibbs")


def test_verify_follows_the_models_of_an_experiment(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the results were moved, or the current folder is another than that of the runs."""
    words = ["pt_table2_sampling", *LEARNED, f"output_root={tmp_path}/moved"]
    assert call("-m", "+experiment=pt_table2_sampling", *LEARNED).status == 0
    Path("outputs").rename("moved")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    capsys.readouterr()
    assert verify.main(words) == 0, capsys.readouterr()
    capsys.readouterr()
    model = one("models/*/model.safetensors", tmp_path / "moved")
    whole = flip(model)
    assert verify.main(words) == 1
    said = capsys.readouterr().out
    assert f"damaged: {model}\n" in said
    assert "A damaged model is made again when a run that is not done needs it" in said
    model.unlink()
    assert verify.main(words) == 1
    assert f"damaged: {model}\n" in capsys.readouterr().out
    model.write_bytes(whole)
    assert verify.main(words) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pt_tabel5"], "did you mean 'pt_table5'"),
        (["output_rot=x"], "did you mean 'output_root'"),
        (["output_root=nowhere"], "'nowhere' was given, which is not there"),
    ],
)
def test_mistakes_are_refused_in_one_sentence(
    arguments: list[str], sentence: str, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify.main(arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


def test_verify_reads_records_by_the_digests_of_their_folders(tmp_path: Path) -> None:
    folder = tmp_path / "record" / "mine_smoke"
    folder.mkdir(parents=True)
    for name in ("table.csv", "manifest.json"):
        (folder / name).write_text("{}")
    write_digests(folder, ["table.csv", "manifest.json"])
    assert verification.verify([tmp_path / "record"]).damaged == []
    (folder / "table.csv").write_text("a,b")
    assert verification.verify([tmp_path / "record"]).damaged == [folder / "table.csv"]


@pytest.mark.parametrize("left", [0, 5, 4096], ids="{} bytes".format)
def test_verify_finds_weights_whose_head_is_lost(left: int, tmp_path: Path) -> None:
    """A file that has lost its digest with its head is no file of another program."""
    path = tmp_path / "models" / "a" / "model.safetensors"
    path.parent.mkdir(parents=True)
    write_tensors(path, {"weight": torch.ones(3000)}, {"recipe": "{}"})
    assert verification.verify([tmp_path]).damaged == []
    whole = path.read_bytes()
    path.write_bytes(whole[:left] if left < 100 else bytes(left) + whole[left:])
    assert verification.verify([tmp_path]).damaged == [path]
    path.write_bytes(safetensors.torch.save({"weight": torch.ones(3)}))
    found = verification.verify([tmp_path])
    assert (found.damaged, found.unknown) == ([], 1)


def test_what_was_set_aside_is_not_verified(call: Call, run: Path) -> None:
    flip(run / "metrics.csv")
    assert call(*SMALL).status == 0
    assert verify.main([]) == 0


def test_a_rendering_that_is_cut_short_is_not_taken_for_a_table(
    call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("-m", "+experiment=pt_table5", *SWEEP).status == 0
    assert table.main(["pt_table5", *SWEEP]) == 0
    folder = one("tables/pt_table5/*")
    figures = {path: path.read_bytes() for path in folder.iterdir() if path.suffix in (".png", ".pdf")}
    assert figures

    def cut_short(page: Figure, goal: Any, **more: Any) -> None:
        if isinstance(goal, Path):
            goal.write_bytes(b"PNG")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Figure, "savefig", cut_short)
        assert table.main(["pt_table5", *SWEEP]) == 130
    assert {path: path.read_bytes() for path in figures} == figures
    said = f"The table {folder} has no digests.json: it was cut short"
    capsys.readouterr()
    assert verify.main([]) == 0
    assert said in capsys.readouterr().out
    assert wandb_sync.main(["pt_table5", *SWEEP, "mode=disabled"]) == 0
    assert said in capsys.readouterr().out
    assert table.main(["pt_table5", *SWEEP]) == 0
    capsys.readouterr()
    assert verify.main([]) == 0
    assert said not in capsys.readouterr().out
