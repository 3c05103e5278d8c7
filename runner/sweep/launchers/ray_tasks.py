"""What Ray needs besides its launcher: where it runs, GPUs for its tasks, an end of its wait at a signal."""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from runner.config.values import gpus_of
from runner.execution import signals
from runner.execution.devices import device_type
from runner.files.lock_holders import holder, is_held
from runner.store.run_folder import RunFolder
from runner.sweep.launchers.requeue import wait_for_workers

RAY = "RayLauncher"
"""The name of the launcher's class."""

ADDRESS = "RAY_ADDRESS"
"""The environment variable that names a cluster where the launcher's ``ray.init.address`` names none."""

LOCAL = "local"
"""The address by which Ray starts on this machine, whatever else runs there."""

OBJECT_STORE_BYTES = 75 * 2**20
"""The least that Ray allows, as its launcher has it; a cluster has a size of its own, and takes none."""


def cluster_address(init: Mapping[str, Any]) -> str | None:
    """The address of the cluster that the arguments `init` of Ray lead to; None for a Ray of our own."""
    given = init.get("address")
    if given in (None, "auto"):
        given = os.environ.get(ADDRESS) or given
    return None if given == LOCAL else given


def assign_gpus(ray: DictConfig, config: DictConfig, ids: Sequence[str], visible: str) -> None:
    """Has Ray assign a GPU to each task: one of `ids`, or of those that the nodes of a cluster have.

    Args:
        ray: the launcher's settings, which are changed.
        config: of a job.
        ids: of the GPUs that are shared, see `runner.sweep.launchers.gpus.shared_gpus`.
        visible: the environment variable that a Ray of our own takes them from.
    """
    cluster, gpus = cluster_address(ray.init), list(dict.fromkeys(ids))
    with open_dict(ray):
        if ids:
            ray.remote.setdefault("num_gpus", len(gpus) / len(ids))
        elif cluster is not None and gpus_of(config) is not None and device_type(config.device) == "cuda":
            ray.remote.setdefault("num_gpus", 1)
        if ids and cluster is None:
            os.environ[visible] = ",".join(gpus)
            ray.init.setdefault("num_gpus", len(gpus))


@contextmanager
def ray_at_work(ray_cfg: DictConfig, folders: Sequence[RunFolder]) -> Iterator[None]:
    """Starts Ray, or connects to its cluster, before its launcher would; within it a signal ends its wait.

    Where it ends early, so do the tasks that Ray still has for this process: they are launched anew.

    Args:
        ray_cfg: the launcher's settings.
        folders: of the runs. At a signal, those that a Ray of our own computes are saved before it ends.

    Raises:
        Interrupted: if the process was told to stop.
    """
    import ray

    if not ray.is_initialized():
        given = OmegaConf.to_container(ray_cfg.init, resolve=True)
        assert isinstance(given, dict)
        address = cluster_address(ray_cfg.init)
        if address is None:
            given = {"object_store_memory": OBJECT_STORE_BYTES, **given}
        ray.init(**{**given, "address": address or LOCAL})
    signals.listen()  # Ray has put a handler of its own in place of ours
    try:
        with signals.keyboard_interrupts():
            yield
    except BaseException as error:
        if isinstance(error, signals.Interrupted):
            _stop_workers(folders)
        ray.shutdown()
        raise


def _stop_workers(folders: Sequence[RunFolder]) -> None:
    """Passes the signal on to our workers that compute these runs, which Ray's end would kill, and waits."""
    ours: dict[int, list[RunFolder]] = {}
    for folder in folders:
        found = holder(folder.lock.path) if is_held(folder.lock.path) else None
        if found is not None and found.host == platform.node() and _is_below(found.pid):
            ours.setdefault(found.pid, []).append(folder)
    for worker in ours:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)
    wait_for_workers(folder for each in ours.values() for folder in each)


def _is_below(process: int) -> bool:
    """Whether this process started `process`, or one that did, on Linux; not on other systems."""
    with suppress(OSError, ValueError):
        while process > 1:
            status = Path(f"/proc/{process}/stat").read_text()
            process = int(status.rpartition(")")[2].split()[1])  # that of its parent
            if process == os.getpid():
                return True
    return False


def ray_of_worker() -> ModuleType | None:
    """Ray, where it has started this process as a worker or is at work for it."""
    ray = sys.modules.get("ray")
    return ray if ray is not None and ray.is_initialized() else None
