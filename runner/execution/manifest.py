"""Where a run was computed: commit, packages, device, host and times."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.integrity.source import source_digest

PACKAGES = ("torch", "numpy", "scipy", "hydra-core", "omegaconf")
RESULTS = ":(exclude)outputs"
"""What `git status` is not asked about: results, the recorded ones among them."""

COMMAND_LINE = "RUNGWISE_COMMAND_LINE"
"""The environment variable that tells workers the command whose jobs they compute."""


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_manifest(device: str, threads: int, former: dict[str, Any] | None) -> dict[str, Any]:
    """The manifest of a run that starts now on so many CPU threads.

    `former` is that of an earlier attempt, whose start it keeps.
    """
    attempt = {"started": now(), "host": socket.gethostname(), "process": os.getpid(), "threads": threads}
    attempt |= source()
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        attempt["gpu"] = os.environ["CUDA_VISIBLE_DEVICES"]
    attempts = former.get("attempts", []) if former else []
    attempts = [*(attempts if isinstance(attempts, list) else []), attempt]
    return {
        "git": git(),
        "packages": packages(),
        "device": {"type": device, "name": device_name(device)},
        "threads": threads,
        "host": socket.gethostname(),
        "command": command_line(),
        "started": attempts[0].get("started", attempt["started"]),
        "finished": None,
        "attempts": attempts,
    }


def command_line() -> str:
    """The command that this process runs, or computes a job of."""
    program = Path(sys.argv[0])
    words = ["python", "-m", program.parent.name] if program.name == "__main__.py" else [program.name]
    return os.environ.get(COMMAND_LINE) or shlex.join([*words, *sys.argv[1:]])


@contextmanager
def told_to_workers() -> Iterator[None]:
    """Within it the processes that this one starts know its command; a cluster's have a line of their own."""
    os.environ[COMMAND_LINE] = command_line()
    try:
        yield
    finally:
        del os.environ[COMMAND_LINE]


@functools.cache
def git() -> dict[str, Any]:
    """The commit of the code and whether files differ from it; None where it is no git checkout.

    Results are left out: a table that was just recorded changes no run.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return {"commit": None, "dirty": None}
    try:
        command = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2", "--branch"]
        # A status that a kill cuts short must leave no lock in the checkout.
        asked = [*command, "--", ".", RESULTS]
        status = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return {"commit": None, "dirty": None}
    head, *lines = status.splitlines()
    commit = head.removeprefix("# branch.oid ")
    if commit == "(initial)":
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": not all(line.startswith("# ") for line in lines)}


def source() -> dict[str, Any]:
    """The source code of this process: a digest of it, its commit, and whether files differ from that."""
    return {"source": source_digest(), **git()}


@functools.cache
def packages() -> dict[str, str]:
    """Versions of Python and of what the numbers depend on."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


@functools.cache
def device_name(device: str) -> str:
    """The model of the processor or of the accelerator."""
    if device == "cuda":
        import torch

        return str(torch.cuda.get_device_name())
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
