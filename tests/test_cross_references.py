"""Every module, class and function that a docstring, comment or document names in backticks exists."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFERENCE = re.compile(r"`((?:runner|metrics|samplers|targets)(?!\.csv`)(?:\.\w+)+)(?:\(\))?`")
HISTORY = {"CHANGELOG.md"}
"""Tells what modules were called before; its names need not exist any more."""


def references() -> dict[str, list[str]]:
    """Each dotted name in backticks, to the files that name it."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.md", "*.yaml", "*.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines() or [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py")]
    found: dict[str, list[str]] = {}
    for name in listed:
        path = ROOT / name
        if not path.is_file() or name in HISTORY or name.startswith("outputs/"):
            continue
        for reference in REFERENCE.findall(path.read_text()):
            found.setdefault(reference, []).append(name)
    return found


def resolves(reference: str) -> bool:
    """Whether `reference` is a module, or an attribute of one, also one that a class only annotates."""
    parts = reference.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            if importlib.util.find_spec(module) is None:
                continue
        except ModuleNotFoundError:
            continue
        thing: object = importlib.import_module(module)
        for part in parts[length:]:
            if part in getattr(thing, "__annotations__", {}):
                return True
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def test_every_name_in_backticks_exists() -> None:
    dead = {name: files for name, files in references().items() if not resolves(name)}
    assert not dead, "\n".join(f"{name}: {', '.join(sorted(set(files)))}" for name, files in dead.items())


@pytest.mark.parametrize(
    ("reference", "exists"),
    [
        ("metrics.suite", True),
        ("metrics.metric.Context.statistic", True),
        ("samplers.kernel.State.theta", True),
        ("metrics.sweet", False),
        ("metrics.metric.Contest", False),
    ],
)
def test_only_existing_names_resolve(reference: str, exists: bool) -> None:
    assert resolves(reference) is exists
