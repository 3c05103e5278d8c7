"""One GPU for each process of a sweep: handed out through ``CUDA_VISIBLE_DEVICES``.

CUDA reads that variable when a process first asks for a device, and never again.
"""

from __future__ import annotations

import getpass
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from runner.config.values import AUTO, gpus_of
from runner.execution import signals
from runner.files.locks import Lock
from runner.sweep.launchers.ray_tasks import RAY, assign_gpus, ray_of_worker

VISIBLE = "CUDA_VISIBLE_DEVICES"

_mine: list[tuple[str, Lock]] = []
"""The id and the lock of the GPU that this process computes on until it ends."""


def shared_gpus(config: DictConfig) -> list[str]:
    """The ids that ``sweep.gpus`` names; with ``auto`` those of this machine, if there are several.

    An id that is there twice is for two processes.

    Raises:
        UserError: for anything but ``auto``, null or a list of ids.
    """
    ids = gpus_of(config)
    if ids is None or (ids == AUTO and config.device == "cpu"):
        return []
    if isinstance(ids, str):
        found = _visible()
        return found if len(found) > 1 else []
    return ids


def _visible() -> list[str]:
    """The ids of the GPUs that this process may use; does not begin to use them."""
    if (named := os.environ.get(VISIBLE)) is not None:
        return [each for each in named.split(",") if each]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def one_each(launcher: Any, config: DictConfig) -> None:
    """Has `launcher` start one process for each id: joblib no more processes, Ray a GPU for each task.

    Raises:
        UserError: as `shared_gpus`.
    """
    ids, kind = shared_gpus(config), type(launcher).__name__
    if kind == RAY:
        assign_gpus(launcher.ray_cfg, config, ids, VISIBLE)
    elif kind == "JoblibLauncher" and ids:
        wanted = launcher.joblib.get("n_jobs", -1)
        launcher.joblib["n_jobs"] = len(ids) if wanted < 1 else min(wanted, len(ids))


@contextmanager
def own_gpu(config: DictConfig) -> Iterator[None]:
    """Within it one of the shared GPUs that no other process has is the only one that this worker sees.

    Waits until one is free, and keeps it until the process ends: its CUDA context is bound to it. A worker of
    Ray, which outlives its jobs, gives it back after each, and waits for the same one before the next. Does
    nothing where the launcher has assigned one already, as Ray and Slurm do.

    Raises:
        UserError: as `shared_gpus`.
    """
    ray = ray_of_worker()
    if ray is None and _mine:
        yield
        return
    free = _mine or _locks([] if ray is not None and ray.get_gpu_ids() else shared_gpus(config))
    taken = _first(free) if free else None
    if taken is not None:
        os.environ[VISIBLE], lock = taken
        _mine[:] = [taken]
    try:
        yield
    finally:
        if taken is not None and ray is not None:
            lock.release()


def _locks(ids: list[str]) -> list[tuple[str, Lock]]:
    """Each of `ids` with the lock of its place; none where this process sees one of them alone."""
    if not ids or os.environ.get(VISIBLE) in ids:
        return []
    folder = Path(tempfile.gettempdir()) / f"rungwise-gpus-{getpass.getuser()}"
    folder.mkdir(exist_ok=True)
    return [(each, Lock(folder / f"{each}.{ids[:place].count(each)}.lock")) for place, each in enumerate(ids)]


def _first(free: list[tuple[str, Lock]]) -> tuple[str, Lock]:
    """The first that no other process has, taken; waits for it."""
    while True:
        for each in free:
            if each[1].take():
                return each
        signals.obey()
        time.sleep(0.2)
