"""GPUs are handed out, one to each process; their ids here are made up."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.store.run_folder import RunFolder
from runner.sweep.launchers import gpus
from tests.support.commands import finished


@pytest.fixture(autouse=True)
def _visible(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests make of the variable is undone."""
    monkeypatch.setenv(gpus.VISIBLE, "")


def configured(given: object, device: str = "auto") -> Any:
    return OmegaConf.create({"sweep": {"gpus": given}, "device": device})


@pytest.mark.parametrize(
    ("given", "visible", "device", "expected"),
    [
        (None, "0,1", "auto", []),
        ("auto", "0,1", "auto", ["0", "1"]),
        ("auto", "0,1", "cpu", []),
        ("auto", "3", "auto", []),
        ("auto", "", "auto", []),
        ([7, 8], None, "cpu", ["7", "8"]),
        (["GPU-1a", "MIG-2b"], "0", "cuda", ["GPU-1a", "MIG-2b"]),
    ],
)
def test_which_gpus_are_shared(
    monkeypatch: pytest.MonkeyPatch, given: object, visible: str | None, device: str, expected: list[str]
) -> None:
    if visible is not None:
        monkeypatch.setenv(gpus.VISIBLE, visible)
    assert gpus.shared_gpus(configured(given, device)) == expected


@pytest.mark.parametrize("given", ["all", [], [""], [1.5], 2])
def test_what_are_no_ids_is_refused(given: object) -> None:
    with pytest.raises(UserError, match=r"sweep.gpus must be auto, null or a list of ids, such as"):
        gpus.shared_gpus(configured(given))


@pytest.mark.parametrize(("wanted", "processes"), [(-1, 2), (1, 1), (9, 2)])
def test_joblib_starts_no_more_processes_than_gpus(wanted: int, processes: int) -> None:
    launcher = type("JoblibLauncher", (), {})()
    launcher.joblib = {"n_jobs": wanted}
    gpus.one_each(launcher, configured([7, 8]))
    assert launcher.joblib["n_jobs"] == processes


def test_ray_assigns_a_gpu_to_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = type("RayLauncher", (), {})()
    launcher.ray_cfg = OmegaConf.create({"init": {"address": None}, "remote": {}})
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    gpus.one_each(launcher, configured([7, 8]))
    assert launcher.ray_cfg == {"init": {"address": None, "num_gpus": 2}, "remote": {"num_gpus": 1.0}}
    assert os.environ[gpus.VISIBLE] == "7,8"
    launcher.ray_cfg = OmegaConf.create({"init": {"address": "there"}, "remote": {}})
    gpus.one_each(launcher, configured([7, 7, 8, 8]))
    assert launcher.ray_cfg == {"init": {"address": "there"}, "remote": {"num_gpus": 0.5}}


def taken(given: object) -> str:
    """The GPU that a job of a worker sees."""
    with gpus.own_gpu(configured(given)):
        return os.environ[gpus.VISIBLE]


def test_a_process_takes_a_gpu_that_no_other_has_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen, kept = [], list[object]()
    for _ in range(3):  # a lock is one of a file that is open: this process stands for three
        monkeypatch.setattr(gpus, "_mine", [])
        monkeypatch.delenv(gpus.VISIBLE, raising=False)
        seen.append(taken([7, 8, 7]))
        kept += gpus._mine
        assert taken([7, 8, 7]) == seen[-1]
    assert seen == ["7", "8", "7"]
    monkeypatch.setattr(gpus, "_mine", [])
    monkeypatch.delenv(gpus.VISIBLE)
    monkeypatch.setattr(gpus.signals, "obey", _stop)
    with pytest.raises(InterruptedError):
        taken([7, 8])


def _stop() -> None:
    raise InterruptedError("all are taken, so the process waits until it is told to stop")


def test_what_the_launcher_has_assigned_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "_mine", [])
    monkeypatch.setenv(gpus.VISIBLE, "8")
    assert taken([7, 8]) == taken("auto") == "8"
    assert gpus._mine == []


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", "ray"])
def test_every_worker_of_a_sweep_sees_one_gpu(tmp_path: Path, launcher: str) -> None:
    pytest.importorskip(launcher)
    small = (
        "target=bernoulli4",
        "sampler=gibbs,random_walk",
        "metric=[tv]",
        "task.steps=200",
        "task.chains=3",
    )
    asked = (
        "-m",
        f"hydra/launcher={launcher}",
        "sweep.gpus=[7,8]",
        "device=cpu",
        *small,
        "task.burn_in=0,10,20",
    )
    finished(tmp_path, *asked)
    seen: dict[int, set[str]] = {}
    for path in tmp_path.glob("runs/*"):
        (attempt,) = (RunFolder(path).manifest() or {})["attempts"]
        seen.setdefault(attempt["process"], set()).add(attempt["gpu"])
    assert len(list(tmp_path.glob("runs/*"))) == 6
    assert all(len(visible) == 1 for visible in seen.values())
    assert {gpu for visible in seen.values() for gpu in visible} == {"7", "8"}
