"""The W&B copy, offline: what a run writes is read back from W&B's own files, and is what the disk gives."""

from __future__ import annotations

import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("wandb", reason="the extra wandb is not installed")

from runner import wandb_sync
from runner.__main__ import main as run
from runner.execution import signals
from runner.execution.errors import UserError
from runner.execution.live import Point, heard_by, say_recorded, say_state
from runner.loggers.run_names import run_name
from runner.loggers.wandb import WandbLogger
from runner.loggers.wandb_connection import asked_tags, reachable
from runner.store.logged_run import Given
from runner.store.run_store import Store
from runner.sweep.live_logging import BatchLogging, PreparationLogging
from runner.tasks.sample import Sampling

ABOUT = {"git": {"commit": "c0ffee", "dirty": False}, "settings": {"sampler.step_size": 25}}

CONFIG = {
    "target": {"name": "mog", "components": 8},
    "sampler": {"name": "dmala", "step_size": 25},
    "scale": {"name": "smoke"},
    "seed": 3,
}


def chunks(path: Path) -> Iterator[bytes]:
    """The records of a .wandb file: LevelDB's log format after a header of seven bytes."""
    content, position, parts = path.read_bytes(), 7, []
    while position + 7 <= len(content):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", content[position : position + 7])
        if position + 7 + length > len(content):
            return  # its end is not written yet
        parts.append(content[position + 7 : position + 7 + length])
        position += 7 + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def read_back(path: Path) -> dict[str, Any]:
    """What a .wandb file holds: the run, its history rows by step, its metrics, its summary, its exit code.

    W&B's service writes the last record a moment after `finish` has returned.
    """
    deadline = time.monotonic() + 20
    while "exit" not in (found := _read(path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _read(path: Path) -> dict[str, Any]:
    from wandb.proto import wandb_internal_pb2

    found: dict[str, Any] = {"history": {}, "other": [], "summary": {}, "config": {}, "metrics": {}}
    for chunk in chunks(path):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(chunk)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            found["run"] = record.run
            found["config"] |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
        elif kind == "history":
            row = plain(record.history.item)
            if "step" in row:
                assert row["step"] not in found["history"], f"step {row['step']} is there twice"
                found["history"][row["step"]] = row
            else:
                found["other"].append(row)
        elif kind == "summary":
            found["summary"] |= plain(record.summary.update)
        elif kind == "metric":
            metric = record.metric
            rules = [field.name for field, value in metric.summary.ListFields() if value is True]
            found["metrics"][metric.name or metric.glob_name] = (metric.step_metric, rules)
        elif kind == "exit":
            found["exit"] = record.exit.exit_code
    return found


def plain(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def copies(directory: Path, run_id: str = "") -> list[Path]:
    return sorted(directory.glob(f"wandb/offline-run-*-{run_id}*/run-*.wandb"))


def test_runs_side_by_side_each_have_their_own_copy(tmp_path: Path) -> None:
    logger = WandbLogger(mode="offline", project="p", group="pt_table1", tags=["t"], directory=str(tmp_path))
    for seed, run_id in enumerate(("aaaa", "bbbb")):
        logger.start(run_id, {**CONFIG, "seed": seed}, ABOUT)
    for step in (0, 10, 200):
        logger.log("aaaa", step, {"kl": 1.0 / (1 + step)})
        logger.log("bbbb", step, {"kl": 2.0})
    for run_id in ("aaaa", "bbbb"):
        logger.finish(run_id, {"status": "done", "metrics": {"kl": 0.5}})

    assert len(copies(tmp_path)) == 2
    first = read_back(copies(tmp_path, "aaaa")[0])
    assert first["run"].run_id == "aaaa"
    assert first["run"].run_group == "pt_table1"
    assert first["run"].project == "p"
    assert first["run"].display_name == "dmala, step_size 25 · mog · seed 0"
    assert set(first["run"].tags) == {"mog", "dmala", "smoke", "t"}
    assert first["config"]["target"] == CONFIG["target"]
    assert first["config"]["seed"] == 0
    assert {step: row["kl"] for step, row in first["history"].items()} == {0: 1.0, 10: 1 / 11, 200: 1 / 201}
    assert first["summary"]["status"] == "done"
    assert first["exit"] == 0
    assert {row["kl"] for row in read_back(copies(tmp_path, "bbbb")[0])["history"].values()} == {2.0}


def test_images_are_sheets_and_a_run_that_starts_twice_has_one_copy(tmp_path: Path) -> None:
    logger = WandbLogger(mode="offline", directory=str(tmp_path))
    for _ in range(2):  # another run of its batch failed
        logger.start("aaaa", CONFIG, ABOUT)
    pictures = {"draws": np.ones((3, 4, 5), dtype=np.uint8), "visits": np.arange(16)}
    logger.log("aaaa", 5, {"kl": 1.0}, lambda: pictures)
    logger.finish("aaaa", {"status": "failed", "runs": {0: "aaaa"}}, failed=True)
    logger.finish("bbbb", {"status": "failed"}, failed=True)
    (copy,) = copies(tmp_path)
    held = read_back(copy)
    assert held["exit"] == 1
    found = held["history"][5]
    assert found["draws/_type"] == "image-file"
    assert (found["draws/height"], found["draws/width"]) == (8 * (4 + 2) + 2, 8 * (5 + 2) + 2)
    assert (found["visits/height"], found["visits/width"]) == (256, 256)


def test_a_batch_that_starts_again_leaves_no_seconds_of_before(tmp_path: Path) -> None:
    """As where a seed of it has failed; steps that are said again with the same seconds replace nothing."""
    given_up, later = {10: 1.0, 20: 2.0}, {10: 1.5, 20: 2.5, 30: 3.5}
    for name, attempts in (("aaaa", [given_up, later]), ("bbbb", [given_up, given_up])):
        logger = WandbLogger(mode="offline", directory=str(tmp_path))
        logger.start(name, CONFIG, {})
        logger.training(name, 5, {"loss": 0.5})
        for attempt in attempts:
            logger.start(name, CONFIG, {})
            for step, seconds in attempt.items():
                logger.log(name, step, {"kl": 1.0 / step, "seconds": seconds})
        logger.finish(name, {"status": "done", "metrics": {"kl": 0.05}})
        (copy,) = copies(tmp_path, name)
        found = read_back(copy)
        assert {step: row["seconds"] for step, row in found["history"].items()} == attempts[-1]
        assert [row["training/loss"] for row in found["other"] if "training/loss" in row] == [0.5]
        assert (found["summary"]["status"], found["exit"]) == ("done", 0)
        assert "history_seconds" not in found["summary"]
        assert found["metrics"]["kl"] == ("step", ["min", "last"])


def test_a_failed_seed_leaves_no_seconds_of_the_batch_that_it_was_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other seed starts again alone, and what its first attempt has logged is replaced."""
    walk = Sampling.walk

    def walked(work: Sampling) -> None:
        walk(work)
        if len(work.seeds) > 1:
            work.seconds += 100.0
            if work.step >= 40:
                work.acceptance_sum[0] = float("nan")

    monkeypatch.setattr(Sampling, "walk", walked)
    assert run([*ONE, *OFFLINE, "seed=[0,1]", "checkpoint.steps=10", f"output_root={tmp_path}"]) == 1
    (folder,) = (path.parent for path in tmp_path.glob("runs/*/summary.json"))
    recorded = Store(tmp_path).run(folder.name).metrics()
    assert recorded is not None
    (copy,) = copies(tmp_path, folder.name)
    sent = {step: row["seconds"] for step, row in read_back(copy)["history"].items()}
    assert sent == pytest.approx(dict(zip(recorded["step"], recorded["seconds"], strict=True)))
    assert max(sent.values()) < 100


def test_a_table_is_copied_with_its_rows_and_figures(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "table.csv").write_text("row,kl\nDMALA,0.1\n")
    pixels = pytest.importorskip("PIL.Image").new("RGB", (4, 4))
    pixels.save(folder / "figure.png")
    for _ in range(2):
        WandbLogger(mode="offline", directory=str(tmp_path)).table("pt_table1", "smoke", folder)
    (copy,) = copies(tmp_path, "table-pt_table1-smoke")
    (row,) = read_back(copy)["other"]
    kinds = {key.removesuffix("/_type"): value for key, value in row.items() if key.endswith("/_type")}
    assert kinds == {"figure": "image-file", "table": "table-file"}


def test_an_unknown_mode_is_refused() -> None:
    for project in ("a/b", "a" * 129):
        with pytest.raises(ValueError, match=r"^project must be a name of at most 128 letters without / "):
            WandbLogger(mode="offline", project=project)
    with pytest.raises(ValueError, match=r"^mode must be one of disabled, offline, online, 'of' was"):
        WandbLogger(mode="of")


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would write to the system's temporary folder, in silence."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("wandb.init", pytest.fail)
    earlier = tmp_path / "wandb" / "offline-run-1-a"
    earlier.mkdir(parents=True)
    logger = WandbLogger(mode="offline", directory=str(tmp_path))
    with pytest.raises(
        UserError, match=f"offline runs go to {tmp_path / 'wandb'}, which may not be written;"
    ):
        logger.start("a", CONFIG, ABOUT)
    assert earlier.is_dir()


def test_disabled_writes_nothing(tmp_path: Path) -> None:
    logger = WandbLogger(mode="disabled", directory=str(tmp_path))
    logger.start("aaaa", CONFIG, ABOUT)
    logger.log("aaaa", 1, {"kl": 1.0})
    logger.finish("aaaa", {"status": "done"})
    assert not (tmp_path / "wandb").exists()


PICTURED = """
import sys
import numpy
from runner.loggers.wandb import WandbLogger

logger = WandbLogger(mode="offline", directory=sys.argv[1])
logger.start("aaaa", {}, {})
logger.log("aaaa", 1, {"kl": 1.0}, lambda: {"visits": numpy.ones(16)})
logger.finish("aaaa", {"status": "done"})
print("pandas" in sys.modules)
"""


@pytest.mark.slow
def test_a_logged_picture_does_not_import_pandas(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PICTURED, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False"]


def test_online_without_a_network_goes_on_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runner.loggers.wandb_connection.reachable", lambda url: False)
    logger = WandbLogger(mode="online", directory=str(tmp_path))
    warning = capsys.readouterr().err
    assert warning.startswith("warning: W&B cannot be reached at http")
    assert len(warning.splitlines()) == 1
    logger.start("aaaa", CONFIG, ABOUT)
    logger.finish("aaaa", {"status": "done"})
    assert len(copies(tmp_path)) == 1


def test_online_without_a_key_goes_on_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runner.loggers.wandb_connection.reachable", lambda url: True)
    logger = WandbLogger(mode="online", directory=str(tmp_path))
    assert logger.mode == "offline"
    assert "no key" in capsys.readouterr().err


def test_a_closed_port_is_not_reachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert not reachable(f"http://127.0.0.1:{port}")
    assert not reachable("not a url")


def test_wandb_is_not_imported_unless_asked(tmp_path: Path) -> None:
    """A run is finished, looked at and verified in a process that could not import W&B."""
    code = """if True:
        import sys
        sys.modules["wandb"] = None
        import runner.audit, runner.bench, runner.exactness, runner.table, runner.wandb_sync
        from runner import __main__, status, verify
        root, *words = sys.argv[1:]
        for main, given in [(__main__.main, words), (status.main, ["reld_theorem1"]), (verify.main, [])]:
            assert main([*given, root]) == 0, main
        assert sys.modules["wandb"] is None
    """
    words = ["scale=smoke", "target.components=2", "sampler=gibbs", "task.chains=4", "task.steps=20"]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-c", code, f"output_root={tmp_path}", *words]
    said = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert said.returncode == 0, said.stderr
    assert len(list(tmp_path.glob("runs/*/summary.json"))) == 1


SWEEP = ["scale=smoke", "sampler=dmala", "target.components=2", "task.chains=4", "task.steps=20"]
SMALL = [*SWEEP, "task.record=2"]


def content(path: Path) -> dict[str, Any]:
    """What a copy of a run holds, without what W&B adds on its own."""
    found = read_back(path)
    rows = {
        step: {key: value for key, value in row.items() if not key.startswith("_") and "/" not in key}
        for step, row in found["history"].items()
    }
    return {"history": rows, "group": found["run"].run_group, "name": found["run"].display_name}


def test_the_copy_made_from_disk_is_the_copy_made_by_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    live = ["logger=wandb", "logger.mode=offline", f"output_root={tmp_path}"]
    assert run(["-m", "+experiment=pt_table5", *SMALL, *live]) == 0
    first = {path.name: content(path) for path in copies(tmp_path)}
    assert len(first) == 2
    for copy in first.values():
        assert copy["group"] == "pt_table5, smoke"
        assert max(copy["history"]) == 20
        assert len(copy["history"]) >= 2
        assert {"kl", "tv", "evaluations"} <= set(copy["history"][20])

    capsys.readouterr()
    rebuild = ["pt_table5", "mode=offline", *SMALL, f"output_root={tmp_path}"]
    assert wandb_sync.main(rebuild) == 0
    said = capsys.readouterr().out
    assert "Copied 0 runs (offline), 2 were there already; 0 runs are not done." in said
    assert "upload with: wandb sync" in said
    for _ in range(2):
        assert wandb_sync.main([*rebuild, "--again"]) == 0
        assert "Copied 2 runs (offline); 0 runs are not done." in capsys.readouterr().out
        assert {path.name: content(path) for path in copies(tmp_path)} == first
        assert len(copies(tmp_path)) == 2


def test_nothing_is_copied_where_wandb_is_disabled() -> None:
    said = "Nothing was copied, since W&B is disabled (mode=disabled); 1 run is not done."
    assert wandb_sync.Synced(Given(1, 0, 1), False, "disabled", ()).sentence() == said
    said = "Copied 1 run and the table (online), 1 was there already; 0 runs are not done."
    assert wandb_sync.Synced(Given(1, 1, 0), True, "online", ()).sentence() == said


def test_runs_that_are_not_done_are_counted_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wandb_sync.main(["pt_table5", "mode=offline", *SMALL, f"output_root={tmp_path}"]) == 0
    assert "Copied 0 runs (offline); 2 runs are not done." in capsys.readouterr().out
    assert copies(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pt_tabel5"], "did you mean 'pt_table5'"),
        (["pt_table5", "mode=on"], "logger.mode must be one of disabled, offline, online, 'on' was given"),
        (["pt_table5", "scale=big"], "Unknown scale 'big'"),
    ],
)
def test_mistakes_are_refused_in_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wandb_sync.main(arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


def test_a_logger_that_breaks_does_not_stop_the_run_and_the_command_that_is_named_copies_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise OSError("No space left on device")

    names = ["project=broken", "entity=us", "tags=[first,a second]", f"directory={tmp_path}/other"]
    live = ["logger=wandb", "logger.mode=offline", *(f"logger.{each}" for each in names)]
    with monkeypatch.context() as patch:
        patch.setattr("wandb.init", broken)
        assert run(["-m", "+experiment=pt_table5", *SMALL, *live, f"output_root={tmp_path}"]) == 0
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert {run.status() for run in map(Store(tmp_path).run, os.listdir(tmp_path / "runs"))} == {"done"}
    program, *words = shlex.split(said.partition("copy them later with: python -m ")[2])
    assert (program, words[:3]) == (
        "runner.wandb_sync",
        ["runs", f"output_root={tmp_path}", "experiment=pt_table5"],
    )
    assert wandb_sync.main(words) == 0
    sent = [read_back(copy)["run"] for copy in copies(tmp_path / "other")]
    assert [(each.project, each.entity) for each in sent] == [("broken", "us")] * 2
    assert all({"first", "a second"} < set(each.tags) for each in sent)


ONE = ["target=bernoulli4", "sampler=gibbs", "scale=smoke", "task.steps=60", "task.chains=4", "task.record=4"]
OFFLINE = ["logger=wandb", "logger.mode=offline"]


def test_history_is_sent_as_it_is_recorded_and_a_run_that_goes_on_is_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Sampling.advance

    def cut_short(work: Sampling) -> None:
        if work.step >= 40:
            raise signals.Interrupted("a test")
        advance(work)

    command = [*ONE, *OFFLINE, "checkpoint.steps=10", f"output_root={tmp_path}"]
    with monkeypatch.context() as patch:
        patch.setattr(Sampling, "advance", cut_short)
        assert run(command) == signals.Interrupted.status
    (copy,) = copies(tmp_path)
    first = read_back(copy)
    assert len(first["history"]) >= 2
    assert max(first["history"]) < 60
    assert first["summary"]["status"] == "interrupted"

    assert run(command) == 0
    (copy,) = copies(tmp_path)  # and `_read` refuses a step that is there twice
    whole = read_back(copy)
    assert max(whole["history"]) == 60
    for step, row in first["history"].items():
        assert whole["history"][step]["tv"] == row["tv"]
    assert whole["summary"]["status"] == "done"
    (folder,) = (tmp_path / "runs").iterdir()
    summary = Store(tmp_path).run(folder.name).summary()
    assert summary is not None
    assert whole["history"][60]["tv"] == summary["metrics"]["tv"] == whole["summary"]["tv"]["last"]
    rows = Store(tmp_path).run(folder.name).metrics()
    assert rows is not None
    assert list(whole["history"]) == sorted(set(rows["step"]))


def test_metrics_have_axes_a_rule_and_one_entry_in_the_summary(tmp_path: Path) -> None:
    assert run([*ONE, *OFFLINE, f"output_root={tmp_path}"]) == 0
    held = read_back(copies(tmp_path)[0])
    assert {"step", "evaluations", "seconds"} <= set(held["metrics"])
    assert held["metrics"]["tv"] == ("step", ["min", "last"])
    assert held["metrics"]["ess"] == ("step", ["max", "last"])
    assert held["metrics"]["acceptance"] == ("step", ["last"])
    assert set(held["summary"]["tv"]) == {"min", "last"}
    assert "metrics" not in held["summary"]
    assert {"step", "evaluations", "seconds"} <= set(held["history"][60])
    assert held["run"].job_type == "sample"
    commit = json.loads(next(tmp_path.glob("runs/*/manifest.json")).read_text())["git"]["commit"]
    assert held["config"]["commit"] == held["run"].git.commit == commit
    assert held["config"]["scale"] == "smoke"
    assert held["config"]["settings"]["task.steps"] == 60


def test_a_value_that_is_not_there_spoils_neither_the_best_nor_the_last(tmp_path: Path) -> None:
    logger = WandbLogger(mode="offline", directory=str(tmp_path))
    logger.start("aaaa", CONFIG, ABOUT)
    for step, kl, tv in ((1, float("nan"), 0.5), (2, 3.0, 0.4), (3, 4.0, float("nan"))):
        logger.log("aaaa", step, {"kl": kl, "tv": tv})
    logger.finish("aaaa", {"status": "done", "metrics": {"kl": 4.0, "tv": None}})
    held = read_back(copies(tmp_path)[0])
    assert held["summary"]["kl"] == {"min": 3.0, "last": 4.0}
    assert held["summary"]["tv"] is None
    assert "kl" not in held["history"][1]


def test_a_run_is_named_as_its_table_names_it() -> None:
    config = {
        "experiment": "pt_table1",
        "target": {"name": "mog", "components": 8},
        "sampler": {"name": "dmala", "step_size": 100},
        "seed": 3,
    }
    named = run_name(config, {})
    assert named.text == "DMALA, step 100 · MoG, c = 8 · seed 3"
    assert (named.row, named.column) == ("DMALA, step 100", "MoG, c = 8")
    assert named.papers == ("pt-v1", "pt-v2")
    other = {**config, "sampler": {"name": "dmala", "step_size": "auto"}}
    assert run_name(other, {}).row == "DMALA"
    unlike = {**config, "sampler": {"name": "gibbs"}}
    named = run_name(unlike, {"sampler": "gibbs", "task.steps": 9})
    assert named.text == "gibbs · MoG, c = 8 · task.steps 9 · seed 3"
    long = run_name(unlike, {f"task.{'k' * 20}{place}": place for place in range(9)}).text
    assert len(long) <= 128
    assert long.endswith(f"task.{'k' * 20}2 2 · seed 3")


OWN_EXPERIMENT = """# @package _global_
experiment: mine
sweep:
  rows: [{row: A walk, sampler: random_walk}]
  overrides: {target: bernoulli4, metric: "[jump]", task.steps: 20, task.chains: 3}
  seeds: {smoke: 1, quick: 1, paper: 1}
table:
  title: T
  caption: C
  rows: [{row: A walk}]
  columns: [{label: Four bits, where: {target: bernoulli4}}]
  metrics: [{metric: jump, name: Jump, direction: max}]
"""


def test_a_run_of_an_experiment_of_ones_own_is_named_as_its_table_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is computed, where it was done before, and copied by itself or with its experiment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own" / "experiment").mkdir(parents=True)
    (tmp_path / "own" / "experiment" / "mine.yaml").write_text(OWN_EXPERIMENT)
    own = ["--config-dir", "own", f"output_root={tmp_path / 'results'}"]
    command = ["-m", "+experiment=mine", *own, "scale=smoke", "logger=wandb", "logger.mode=offline"]

    def said() -> tuple[str, str, str]:
        (copy,) = copies(tmp_path / "results")
        held = read_back(copy)
        return held["run"].display_name, held["config"]["row"], held["config"]["column"]

    named = ("A walk · Four bits · seed 0", "A walk", "Four bits")
    assert run(command) == 0
    assert said() == named
    for copied in (["mine", *own, "scale=smoke"], ["runs", "experiment=mine", *own]):
        assert wandb_sync.main([*copied, "mode=offline", "--again"]) == 0
        assert said() == named


def test_a_training_and_a_tuning_that_a_run_waits_for_are_seen(tmp_path: Path) -> None:
    logger = WandbLogger(mode="offline", directory=str(tmp_path))

    def start() -> list[str]:
        logger.start("aaaa", CONFIG, ABOUT)
        return ["aaaa"]

    with heard_by(PreparationLogging(logger, start)):
        say_state("training rbm on digits")
        for iteration in (10, 20):
            say_recorded(Point(iteration, 5, 0.5, [{"loss": 1.0 / iteration, "none": float("nan")}]))
    with heard_by(BatchLogging(logger, [None, "aaaa"])):
        say_recorded(Point(10, 5, 0.5, [{"kl": 3.0}, {"kl": 2.0}]))
    logger.finish("aaaa", {"status": "done"})
    held = read_back(copies(tmp_path)[0])
    assert [(row["training/iteration"], row["training/loss"]) for row in held["other"]] == [
        (10, 0.1),
        (20, 0.05),
    ]
    assert held["metrics"]["training/*"][0] == "training/iteration"
    assert {step: row["kl"] for step, row in held["history"].items()} == {10: 2.0}


def test_runs_that_are_done_already_are_copied_and_where_to_look_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"output_root={tmp_path}"
    assert run([*ONE, root]) == 0
    assert "W&B" not in capsys.readouterr().out
    for _ in range(2):
        assert run([*ONE, *OFFLINE, root]) == 0
        said = capsys.readouterr().out
        assert said.count("W&B: written offline; upload with: wandb sync ") == 1
        assert f"{tmp_path}/wandb/offline-run-*" in said
    (copy,) = copies(tmp_path)
    assert len(read_back(copy)["history"]) >= 4


def test_copies_in_a_folder_that_was_renamed_are_uploaded_from_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ONE, *OFFLINE, f"output_root={tmp_path}/old"]) == 0
    (tmp_path / "old").rename(tmp_path / "new")
    capsys.readouterr()
    assert wandb_sync.main(["runs", "mode=offline", f"output_root={tmp_path}/new"]) == 0
    said = capsys.readouterr().out
    assert f"wandb sync {tmp_path}/new/wandb/offline-run-*" in said
    assert f"{tmp_path}/old" not in said


def test_one_text_is_one_tag_and_the_length_of_tags_is_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_tags("first") == asked_tags(["first"]) == ("first",)
    for tags in ([""], "", ["a" * 65]):
        with pytest.raises(ValueError, match="tags must have 1 to 64 letters each, '"):
            WandbLogger(mode="disabled", tags=tags)
    monkeypatch.setenv("WANDB_TAGS", f"one, {'a' * 65}")
    with pytest.raises(ValueError, match="WANDB_TAGS must have 1 to 64 letters each, 'aaa"):
        WandbLogger(mode="disabled")


def test_any_runs_are_copied_by_conditions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = f"output_root={tmp_path}"
    assert run(["-m", *ONE, "seed=0,1,2", root]) == 0
    assert wandb_sync.main(["runs", "seed=1,2", "mode=offline", "tags=[mine]", root]) == 0
    assert "Copied 2 runs (offline); 0 runs are not done." in capsys.readouterr().out
    assert {read_back(path)["config"]["seed"] for path in copies(tmp_path)} == {1, 2}
    assert "mine" in read_back(copies(tmp_path)[0])["run"].tags
    assert wandb_sync.main(["runs", "seed=7", "mode=offline", root]) == 2
    assert f"None of the 3 runs under {tmp_path} fits seed=7: seed is 0, 1, 2." in capsys.readouterr().err


def test_an_offline_copy_is_of_one_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of which it says so: ``wandb sync`` would send it there."""
    root = f"output_root={tmp_path}"
    assert run([*ONE, root]) == 0
    for project in ("first", "second", "first"):
        capsys.readouterr()
        assert wandb_sync.main(["runs", "mode=offline", f"project={project}", root]) == 0
        assert "Copied 1 run (offline); 0 runs are not done." in capsys.readouterr().out
        (copy,) = copies(tmp_path)
        assert read_back(copy)["run"].project == project
    assert wandb_sync.main(["runs", "mode=offline", "project='no/name'", root]) != 0
    assert copies(tmp_path) == [copy]


def test_the_environment_is_honoured_and_keys_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"MODE": "offline", "PROJECT": "theirs", "ENTITY": "me", "TAGS": "one, two"}
    for name, value in given.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    logger = WandbLogger(directory=str(tmp_path))
    logger.start("aaaa", CONFIG, ABOUT)
    logger.finish("aaaa", {"status": "done"})
    held = read_back(copies(tmp_path)[0])["run"]
    assert (held.project, held.entity) == ("theirs", "me")
    assert {"one", "two"} <= set(held.tags)
    own = WandbLogger(mode="disabled", project="mine", entity="us", tags=["three"])
    assert (own.mode, own.project, own.entity, own.tags) == ("disabled", "mine", "us", ("three",))
    monkeypatch.setenv("WANDB_MODE", "dryrun")
    assert WandbLogger().mode == "offline"
    monkeypatch.setenv("WANDB_MODE", "of")
    with pytest.raises(ValueError, match="WANDB_MODE must be one of disabled, offline, online, 'of' was"):
        WandbLogger()


def test_disabled_by_the_environment_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert run([*ONE, "logger=wandb", f"output_root={tmp_path}"]) == 0
    assert not (tmp_path / "wandb").exists()


def test_disabled_says_nothing_of_copies_that_were_written_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of the offline copies was printed, as though the command had written them."""
    root = f"output_root={tmp_path}"
    assert run([*ONE, *OFFLINE, root]) == 0
    assert "W&B: written offline" in capsys.readouterr().out
    assert run([*ONE, "logger=wandb", "logger.mode=disabled", root]) == 0
    assert "W&B" not in capsys.readouterr().out
    assert wandb_sync.main(["runs", "mode=disabled", root]) == 0
    said = "Nothing was copied, since W&B is disabled (mode=disabled); 0 runs are not done.\n"
    assert capsys.readouterr().out == said
