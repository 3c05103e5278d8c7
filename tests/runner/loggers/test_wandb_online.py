"""What W&B's client sends to a server of ours while runs go on, and what becomes of runs when it refuses."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner import wandb_sync
from runner.__main__ import main as run
from runner.execution import signals
from runner.loggers.open_run import OpenRun
from runner.loggers.wandb import WandbLogger
from runner.store.run_store import Store
from runner.tasks.sample import Sampling
from tests.support.wandb_server.server import DROP, WandbServer

ABOUT = {"git": {"commit": "c0ffee", "dirty": False}, "settings": {"sampler.step_size": 25}}

CONFIG: dict[str, Any] = {
    "experiment": "pt_table1",
    "target": {"name": "mog", "components": 8},
    "sampler": {"name": "dmala", "step_size": 100},
    "scale": {"name": "smoke"},
    "task": {"name": "sample"},
    "metric": {"kl": {"_target_": "metrics.KL"}},
    "seed": 3,
}

AGREE = ("step", "evaluations", "tv", "kl", "acceptance", "jump")
"""What two computations of a run have in common: all but its seconds."""

ONE = ["target=bernoulli4", "sampler=gibbs", "scale=smoke", "task.steps=60", "task.chains=4", "task.record=4"]


def rows(server: WandbServer, run_id: str) -> dict[int, dict[str, Any]]:
    """The rows of a run's history by step; a step that is there twice is an error."""
    found: dict[int, dict[str, Any]] = {}
    for row in server.run(run_id).history:
        assert row["step"] not in found, f"step {row['step']} is there twice"
        found[row["step"]] = row
    return found


def stored(root: Path) -> dict[str, Any]:
    """The summary of the one run under `root`."""
    summary: dict[str, Any] = json.loads(next(root.glob("runs/*/summary.json")).read_text())
    return summary


@pytest.mark.slow
def test_history_arrives_while_the_run_goes_on(tmp_path: Path, server: WandbServer) -> None:
    logger = WandbLogger(directory=str(tmp_path))
    logger.start("aaaa", CONFIG, ABOUT)
    for step in (10, 20):
        logger.log("aaaa", step, {"kl": 1.0 / step})
        # The client sends what it has every 15 seconds.
        server.until(lambda step=step: step in rows(server, "aaaa"), seconds=40)
    assert server.run("aaaa").exit_code is None
    logger.finish("aaaa", {"status": "done", "metrics": {"kl": 0.05}})
    assert server.run("aaaa").exit_code == 0


def test_a_run_has_its_names_axes_rules_summary_and_files(tmp_path: Path, server: WandbServer) -> None:
    logger = WandbLogger(directory=str(tmp_path), tags=["mine"])
    logger.start("aaaa", CONFIG, ABOUT)
    for step in (10, 20):
        logger.log("aaaa", step, {"kl": 1.0 / step, "evaluations": 2.0 * step, "seconds": 0.1 * step})
    logger.finish("aaaa", {"status": "done", "metrics": {"kl": 0.05}})
    sent = server.run("aaaa")
    assert sent.exit_code == 0
    assert rows(server, "aaaa")[20]["evaluations"] == 40
    assert {
        key: sent.fields[key] for key in ("project", "displayName", "groupName", "jobType", "commit")
    } == {
        "project": "rungwise",
        "displayName": "DMALA, step 100 · MoG, c = 8 · seed 3",
        "groupName": "pt_table1, smoke",
        "jobType": "sample",
        "commit": "c0ffee",
    }
    assert {"mog", "dmala", "smoke", "pt-v1", "pt-v2", "mine"} == set(sent.fields["tags"])
    assert {"row": "DMALA, step 100", "column": "MoG, c = 8", "scale": "smoke"}.items() <= sent.config.items()
    assert sent.metrics["kl"]["axis"] == "step"
    assert set(sent.metrics) == {"step", "evaluations", "seconds", "kl"}
    assert sent.summary["kl"] == {"min": 0.05, "last": 0.05}
    assert {"wandb-summary.json", "config.yaml"} <= set(sent.files)
    assert logger.places() == [f"W&B: {server.url}/tester/rungwise"]
    assert server.answers.unknown == set()


def test_a_command_that_was_cut_short_and_goes_on_is_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: WandbServer
) -> None:
    advance = Sampling.advance

    def cut_short(work: Sampling) -> None:
        if work.step >= 40:
            raise signals.Interrupted("a test")
        advance(work)

    command = [*ONE, "logger=wandb", "logger.system=false", "checkpoint.steps=10", f"output_root={tmp_path}"]
    with monkeypatch.context() as patch:
        patch.setattr(Sampling, "advance", cut_short)
        assert run(command) == signals.Interrupted.status
    (run_id,) = server.project.runs
    before = rows(server, run_id)
    assert server.run(run_id).exit_code == 1
    assert 60 not in before
    assert run(command) == 0
    assert list(server.project.runs) == [run_id]
    whole = rows(server, run_id)
    assert whole[60]["tv"] == pytest.approx(stored(tmp_path)["metrics"]["tv"])
    assert sum("visits" in row for row in whole.values()) >= 3
    assert {step: row["tv"] for step, row in before.items()}.items() <= {
        step: row["tv"] for step, row in whole.items()
    }.items()
    assert server.run(run_id).exit_code == 0


@pytest.mark.parametrize("metric", ["none", "tv"])
def test_the_summary_says_where_the_history_is_of_an_attempt_that_was_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: WandbServer, metric: str
) -> None:
    """A command that is killed before its first checkpoint begins again; a server changes no row.

    Its seconds are others, and its metrics, too, where other source code computed it, which nothing said.
    """
    advance = Sampling.advance

    def cut_short(work: Sampling) -> None:
        if work.step >= 40:
            raise signals.Interrupted("a test")
        advance(work)
        work.seconds += 100.0

    def doubled(opened: OpenRun, step: int, values: Mapping[str, float], pictures: Any = None) -> None:
        log(opened, step, {name: 2.0 * value if name == metric else value for name, value in values.items()})

    command = [*ONE, "logger=wandb", "logger.system=false", "checkpoint.steps=10", f"output_root={tmp_path}"]
    with monkeypatch.context() as patch:
        patch.setattr(Sampling, "advance", cut_short)
        log, _ = OpenRun.log, patch.setattr(OpenRun, "log", doubled)
        assert run(command) == signals.Interrupted.status
    (run_id,) = server.project.runs
    last = max(rows(server, run_id))
    Store(tmp_path).run(run_id).checkpoint.unlink()
    assert run(command) == 0
    recorded, sent = stored(tmp_path), server.run(run_id)
    assert sent.summary["seconds"] == pytest.approx(recorded["seconds"])
    said = f"of an earlier attempt up to step {last}; metrics.csv has the run's"
    assert sent.summary["history_seconds"] == said
    assert sent.summary.get("history_values") == (None if metric == "none" else said)
    assert sent.summary["status"] == "done"


def test_a_run_that_was_copied_is_not_sent_again(
    tmp_path: Path, server: WandbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"output_root={tmp_path}"
    assert run(["-m", *ONE, "seed=0,1,2", root]) == 0
    live = ["-m", *ONE, "seed=0,1,2", "logger=wandb", root]
    capsys.readouterr()
    assert run(live) == 0
    assert f"W&B: {server.url}/tester/rungwise" in capsys.readouterr().out
    # With the extra dashboards the sweep's tables are a run of their own.
    names = [name for name in server.project.runs if not name.startswith("table-")]
    assert {max(rows(server, name)) for name in names} == {60}
    server.requests.clear()
    assert run(live) == 0
    assert f"W&B: {server.url}/tester/rungwise" in capsys.readouterr().out
    assert wandb_sync.main(["runs", root]) == 0
    assert "Copied 0 runs (online), 3 were there already; 0 runs are not done." in capsys.readouterr().out
    assert not [name for name in server.requests if "UpsertBucket" in name]
    assert wandb_sync.main(["runs", "--again", root]) == 0
    assert "Copied 3 runs (online); 0" in capsys.readouterr().out
    assert wandb_sync.main(["runs", "tags=[other]", root]) == 0
    assert "Copied 3 runs (online); 0" in capsys.readouterr().out
    for name in names:
        rows(server, name)
        assert "other" in server.run(name).fields["tags"]


@pytest.mark.slow
@pytest.mark.parametrize("status", [500, DROP])
def test_a_server_that_fails_for_a_while_gets_everything_once(
    status: int, tmp_path: Path, server: WandbServer
) -> None:
    logger = WandbLogger(directory=str(tmp_path))
    server.fail(status, "RunResumeStatus")
    logger.start("aaaa", CONFIG, ABOUT)
    server.fail(status, "file_stream", times=2)
    server.fail(status, "CreateRunFiles")
    server.fail(status, "/upload/run/aaaa/config.yaml")
    for step in range(1, 6):
        logger.log("aaaa", step, {"kl": float(step)})
    logger.finish("aaaa", {"status": "done"})
    assert [fault.times for fault in server.faults] == [0, 0, 0, 0]
    assert {step: row["kl"] for step, row in rows(server, "aaaa").items()} == {k: k for k in range(1, 6)}
    assert server.run("aaaa").exit_code == 0
    assert "config.yaml" in server.run("aaaa").files


@pytest.mark.parametrize(
    ("status", "path", "sentence"),
    [
        (
            401,
            "/graphql",
            "refuses the key (status 401; `wandb login` sets another); the logger goes on",
        ),
        (403, "RunResumeStatus", "W&B refused the run ("),
        pytest.param(403, "UpsertBucket", "W&B refused the run (", marks=pytest.mark.slow),
    ],
)
def test_a_server_that_refuses_is_one_sentence_and_the_run_is_stored(
    status: int,
    path: str,
    sentence: str,
    tmp_path: Path,
    server: WandbServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.fail(status, path, times=math.inf)
    assert run([*ONE, "logger=wandb", f"output_root={tmp_path}"]) == 0
    out, err = capsys.readouterr()
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert stored(tmp_path)["status"] == "done"
    assert "W&B: written offline; upload with: wandb sync" in out
    assert len(list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))) == 1


@pytest.mark.slow
def test_a_server_that_goes_away_does_not_hold_the_run(
    tmp_path: Path, server: WandbServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = WandbLogger.start

    def start(logger: WandbLogger, *arguments: Any) -> None:
        opened(logger, *arguments)
        server.fail(500, times=math.inf)

    root = f"output_root={tmp_path}"
    with monkeypatch.context() as patch:
        patch.setattr("runner.loggers.wandb_runs.FINISH_SECONDS", 1.0)
        patch.setattr(WandbLogger, "start", start)
        assert run([*ONE, "logger=wandb", "logger.project=gone", root]) == 0
    err = capsys.readouterr().err
    assert "the logger failed at finish (TimeoutError" in err
    assert f"copy them later with: python -m runner.wandb_sync runs {root} project=gone\n" in err
    assert stored(tmp_path)["status"] == "done"
    server.faults.clear()
    assert wandb_sync.main(["runs", "project=gone", root]) == 0
    (run_id,) = server.project.runs
    assert rows(server, run_id)[60]["tv"] == pytest.approx(stored(tmp_path)["metrics"]["tv"])


def test_a_key_that_expires_on_the_way_leaves_no_run_noted_as_copied(
    tmp_path: Path, server: WandbServer
) -> None:
    logger = WandbLogger(directory=str(tmp_path))
    logger.start("aaaa", CONFIG, ABOUT)
    server.fail(401, times=math.inf)
    logger.finish("aaaa", {"status": "done"})
    with pytest.raises(ConnectionError, match="refuses the key"):
        logger.places()
    server.faults.clear()
    assert not WandbLogger(directory=str(tmp_path)).has("aaaa", {"status": "done"})


@pytest.mark.slow
def test_an_offline_folder_read_by_wandb_holds_what_an_online_run_sends(
    tmp_path: Path, server: WandbServer
) -> None:
    """W&B's own reader of its files is the one behind ``wandb sync``."""
    sent = {}
    for mode in ("online", "offline"):
        server.clear()
        root = tmp_path / mode
        command = [*ONE, "logger=wandb", "logger.system=false", f"logger.mode={mode}", f"output_root={root}"]
        assert run(command) == 0
        if mode == "offline":
            assert server.project.runs == {}
            (folder,) = root.glob("wandb/offline-run-*")
            done = subprocess.run(
                [sys.executable, "-m", "wandb", "sync", str(folder)], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
        ((run_id, received),) = server.project.runs.items()
        assert received.exit_code == 0
        history = [{key: value for key, value in row.items() if key in AGREE} for row in received.history]
        names = {key: received.fields.get(key) for key in ("displayName", "jobType", "tags", "commit")}
        config = {key: value for key, value in received.config.items() if key != "output_root"}
        config.pop("logger")
        sent[mode] = [run_id, history, names, config, received.metrics, received.summary["tv"]]
    assert sent["online"] == sent["offline"]
