"""Ray as a launcher, with a stand-in for it: its address, an end of its wait, the GPUs of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra.core.plugins import Plugins
from omegaconf import DictConfig, OmegaConf

from runner.execution import signals
from runner.files.locks import Lock
from runner.store.run_store import Store
from runner.sweep.launchers import asked_for, gpus, ray_tasks
from tests.support.commands import SMALL, Call

HOLDER = """
import pathlib, signal, sys, time
from runner.files.locks import Lock
lock = Lock(pathlib.Path(sys.argv[1]))
assert lock.take()
signal.signal(signal.SIGTERM, lambda *_: (lock.release(), pathlib.Path("saved").touch(), sys.exit()))
print("ready", flush=True)
time.sleep(60)
"""


class Ray:
    """What is asked of the module: whether it is at work, what it was given, the GPUs of this worker."""

    def __init__(self) -> None:
        self.given: dict[str, Any] | None = None
        self.ended = False
        self.assigned: list[str] = []

    def is_initialized(self) -> bool:
        return self.given is not None

    def init(self, **given: Any) -> None:
        self.given = given
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))  # as Ray does

    def shutdown(self) -> None:
        self.ended = True

    def get_gpu_ids(self) -> list[str]:
        return self.assigned


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    stand_in = Ray()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.delenv(ray_tasks.ADDRESS, raising=False)
    return stand_in


class RayLauncher:
    """Waits as Ray does: what a signal raises is passed on if it is a KeyboardInterrupt, else dropped."""

    ray_cfg: DictConfig
    number = signal.SIGINT
    waited_in_vain = False

    def launch(self, *_: object, **__: object) -> list[object]:
        for turn in range(20):
            try:
                if turn == 2:
                    os.kill(os.getpid(), self.number)
                time.sleep(0.01)
            except KeyboardInterrupt:
                raise KeyboardInterrupt from None
            except BaseException:
                continue
        self.waited_in_vain = True
        return []


def settings(address: str | None = None) -> DictConfig:
    return OmegaConf.create({"init": {"address": address}, "remote": {}})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_ray(
    ray: Ray, call: Call, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    launcher = RayLauncher()
    launcher.ray_cfg, launcher.number = settings(), number
    monkeypatch.setattr(Plugins, "instantiate_launcher", lambda *_, **__: launcher)
    ended = call("-m", *SMALL)
    assert not launcher.waited_in_vain, "for all tasks of the sweep"
    assert ended.status == 75
    assert ended.err.endswith(f"Stopped by {number.name}; repeat the command to continue.\n")
    assert ray.ended
    signals.forget()
    signals.listen()
    with pytest.raises(signals.Interrupted):  # as before
        os.kill(os.getpid(), number)


def pressed() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1.0)


def test_the_workers_of_our_ray_save_their_runs_before_it_ends(ray: Ray, tmp_path: Path) -> None:
    """Those that other processes compute are left alone."""
    folders = [Store(tmp_path).run(name) for name in ("ours", "other", "free")]
    for folder in folders:
        folder.prepare()
    assert folders[1].lock.take()  # by this process, which is none that it started
    command = [sys.executable, "-c", HOLDER, str(folders[0].lock.path)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        with pytest.raises(signals.Interrupted), ray_tasks.ray_at_work(settings(), folders):
            pressed()
        assert worker.poll() == 0 or worker.wait(5) == 0
    assert (tmp_path / "saved").exists()
    assert ray.ended
    folders[1].lock.release()


@pytest.mark.parametrize(
    ("address", "named", "given"),
    [
        (None, None, {"address": "local", "object_store_memory": 78643200}),
        (None, "node3:6379", {"address": "node3:6379"}),
        ("auto", "node3:6379", {"address": "node3:6379"}),
        ("auto", None, {"address": "auto"}),
        ("node4:6379", "node3:6379", {"address": "node4:6379"}),
        (None, "local", {"address": "local", "object_store_memory": 78643200}),
    ],
)
def test_a_cluster_is_connected_to(
    ray: Ray, monkeypatch: pytest.MonkeyPatch, address: str | None, named: str | None, given: dict[str, Any]
) -> None:
    if named is not None:
        monkeypatch.setenv(ray_tasks.ADDRESS, named)
    with ray_tasks.ray_at_work(settings(address), []):
        assert ray.given == given
    assert not ray.ended


@pytest.mark.parametrize(
    ("address", "visible", "device", "asked", "remote", "init"),
    [
        (None, "0,1", "auto", "auto", {"num_gpus": 1.0}, {"num_gpus": 2}),
        ("node3:6379", "0,1", "auto", "auto", {"num_gpus": 1.0}, {}),
        ("node3:6379", "0", "cuda", "auto", {"num_gpus": 1}, {}),
        ("node3:6379", "", "cuda", "auto", {"num_gpus": 1}, {}),
        ("node3:6379", "", "cuda", None, {}, {}),
        ("node3:6379", "", "cpu", "auto", {}, {}),
        (None, "0", "cuda", "auto", {}, {}),  # one GPU of one machine is shared, as with joblib
    ],
)
def test_tasks_in_a_cluster_have_a_gpu_each(
    monkeypatch: pytest.MonkeyPatch,
    address: str | None,
    visible: str,
    device: str,
    asked: object,
    remote: dict[str, float],
    init: dict[str, int],
) -> None:
    monkeypatch.setenv(gpus.VISIBLE, visible)
    monkeypatch.delenv(ray_tasks.ADDRESS, raising=False)
    if address is not None:
        monkeypatch.setenv(ray_tasks.ADDRESS, address)
    launcher = RayLauncher()
    launcher.ray_cfg = settings()
    gpus.one_each(launcher, OmegaConf.create({"sweep": {"gpus": asked}, "device": device}))
    assert launcher.ray_cfg == {"init": {"address": None, **init}, "remote": remote}


def test_a_worker_of_ray_gives_its_gpu_back_after_each_job(
    ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(gpus, "_mine", [])
    monkeypatch.delenv(gpus.VISIBLE, raising=False)
    monkeypatch.setattr(gpus, "_visible", lambda: os.environ.get(gpus.VISIBLE, "0,1").split(","))
    ray.init()
    config = OmegaConf.create({"sweep": {"gpus": "auto"}, "device": "cuda"})

    def others() -> list[Lock]:
        return [Lock(path) for path in sorted(tmp_path.glob("*/*.lock"))]

    with gpus.own_gpu(config):
        assert os.environ[gpus.VISIBLE] == "0"
        assert not others()[0].take()
    (other,) = others()
    assert other.take()
    monkeypatch.setattr(gpus.signals, "obey", other.release)
    with gpus.own_gpu(config):  # waits for the GPU that its CUDA context is on
        assert os.environ[gpus.VISIBLE] == "0"
        assert not others()[0].take()


def test_what_ray_has_assigned_is_left(ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(gpus.VISIBLE, "5")
    ray.init()
    ray.assigned = ["5"]
    with gpus.own_gpu(OmegaConf.create({"sweep": {"gpus": [0, 1]}, "device": "cuda"})):
        assert os.environ[gpus.VISIBLE] == "5"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["node3:6379", None])
def test_a_machine_without_a_gpu_hands_jobs_for_one_to_a_cluster_of_ray(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str | None
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.delenv(ray_tasks.ADDRESS, raising=False)
    launcher = {"_target_": f"plugin.{ray_tasks.RAY}", "ray": settings(address)}
    config = OmegaConf.create({"hydra": {"launcher": launcher}})
    hydra = SimpleNamespace(compose_config=lambda *_, **__: config)
    monkeypatch.setattr(asked_for.GlobalHydra, "instance", lambda: SimpleNamespace(hydra=hydra))
    job = SimpleNamespace(config=OmegaConf.create({"device": "cuda"}))
    request = SimpleNamespace(hydra=[])
    assert asked_for.on_other_nodes(request, [job]) == (address is not None)  # type: ignore[arg-type,list-item]
    assert ("where Ray starts them." in capsys.readouterr().err) == (address is not None)
