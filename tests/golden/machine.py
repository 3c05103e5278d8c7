"""On what machine, with what versions and of which commit numbers were recorded."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy
import torch

ROOT = Path(__file__).parents[2]

Machine = dict[str, str]

DECISIVE = ("cpu", "instructions", "torch")
"""Bits are compared where these are equal; elsewhere the last digits of a sum may differ."""


def machine() -> Machine:
    """The machine that this runs on."""
    return {
        "cpu": _cpu(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }


def commit() -> str:
    """The last commit of anything but the tests, marked where files of these parts differ from it."""
    rest = ("--", ".", ":!tests", ":!outputs")
    head = _git("log", "-1", "--format=%h", "--abbrev=12", *rest)
    return head + ("+" if _git("status", "--porcelain", *rest) else "")


def same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two machines should give the same bits."""
    return all(one.get(key) == other.get(key) for key in DECISIVE)


def described(one: Mapping[str, str]) -> str:
    """A machine in a few words, for a message."""
    return ", ".join(f"{key} {one.get(key, 'unknown')}" for key in DECISIVE)


def _cpu() -> str:
    """Name of the processor, and its family and model, since a name may stand for several generations."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = said.get("model name", platform.machine())
    return f"{name} (family {said.get('cpu family', '?')}, model {said.get('model', '?')})"


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
