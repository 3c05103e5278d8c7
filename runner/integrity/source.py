"""Which source code computes: the commit says it only where nothing differs from it, a digest always."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FLOORS = ("targets", "samplers", "metrics", "runner")
ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def source_digest(root: Path = ROOT) -> str:
    """First 16 hexadecimal digits of the SHA-256 of all Python files of the four floors, paths included."""
    digest = hashlib.sha256()
    for path in sorted(path for floor in FLOORS for path in (root / floor).rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def distinct_sources(sources: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`sources` in their order, each once; the digest alone tells two of them apart."""
    found: dict[Any, dict[str, Any]] = {}
    for source in sources:
        found.setdefault(source.get("source"), dict(source))
    return list(found.values())


def named(source: Mapping[str, Any]) -> str:
    """``0123456789abcdef (commit 0123456)``, for sentences."""
    commit = source.get("commit")
    return f"{source.get('source')}" + (f" (commit {str(commit)[:7]})" if commit else "")


def mixture(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """A note for results that more than one source has computed; empty where it was one."""
    names = [named(source) for source in sources]
    if len(names) < 2:
        return []
    return [
        f"at least one run was interrupted and continued under other source code: {', then '.join(names)}"
    ]


def made_elsewhere(
    sources: Iterable[Mapping[str, Any]],
    tuning: Mapping[str, Any] | None,
    training: Mapping[str, Any] | None,
) -> list[str]:
    """Notes for results of `sources` that rest on what other source code has made; empty for none.

    Args:
        tuning: of the run, with the `sources` of its pilot; None where nothing was tuned.
        training: of its model, with the `sources` of that; None where none was trained or it does not say.
    """
    own = {source.get("source") for source in sources}
    notes = []
    for made, said in (
        (tuning, "hyperparameters that other source code found"),
        (training, "a model that other source code trained"),
    ):
        others = [named(each) for each in (made or {}).get("sources") or [] if each.get("source") not in own]
        if others:
            notes.append(f"at least one run has {said}: {', '.join(others)}")
    return notes
