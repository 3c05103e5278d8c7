"""One GPU for each process of a sweep: handed out through ``CUDA_VISIBLE_DEVICES``.

CUDA reads that variable when a process first asks for a device, and never again.
"""

from __future__ import annotations

import getpass
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, open_dict

from runner.config.values import AUTO, gpus_of
from runner.execution import signals
from runner.files.locks import Lock

VISIBLE = "CUDA_VISIBLE_DEVICES"

_mine: list[Lock] = []
"""The lock of the GPU that this process has until it ends: its CUDA context is bound to it."""


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
    if not ids:
        return
    if kind == "JoblibLauncher":
        wanted = launcher.joblib.get("n_jobs", -1)
        launcher.joblib["n_jobs"] = len(ids) if wanted < 1 else min(wanted, len(ids))
    elif kind == "RayLauncher":
        with open_dict(launcher.ray_cfg):
            gpus = list(dict.fromkeys(ids))
            launcher.ray_cfg.remote.setdefault("num_gpus", len(gpus) / len(ids))
            if launcher.ray_cfg.init.get("address") is None:
                os.environ[VISIBLE] = ",".join(gpus)
                launcher.ray_cfg.init.setdefault("num_gpus", len(gpus))


def take_gpu(config: DictConfig) -> None:
    """Makes one of the shared GPUs that no other process has the only one that this worker sees.

    Waits until one is free; does nothing where the launcher has assigned one already, as Ray and Slurm do.

    Raises:
        UserError: as `shared_gpus`.
    """
    ids = shared_gpus(config)
    if not ids or os.environ.get(VISIBLE) in ids:
        return
    folder = Path(tempfile.gettempdir()) / f"rungwise-gpus-{getpass.getuser()}"
    folder.mkdir(exist_ok=True)
    while True:
        for place, each in enumerate(ids):
            lock = Lock(folder / f"{each}.{ids[:place].count(each)}.lock")
            if lock.take():
                _mine.append(lock)
                os.environ[VISIBLE] = each
                return
        signals.obey()
        time.sleep(0.2)
