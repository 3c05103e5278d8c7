"""Composed configurations, kept beside the YAML files as Python keeps bytecode beside modules.

Hydra takes a tenth of a second to compose a choice of groups, and an experiment has a dozen. A file is called
by the contents of all YAML files of ours, so that none is stale, and holds its own digest. Without one that
is whole Hydra composes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import hydra
import omegaconf
from omegaconf import DictConfig, OmegaConf

import conf
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import write_bytes
from runner.integrity.file_digest import BLANK, KEY, FileState, file_state, with_own_digest

FOLDER = "__pycache__"
"""In that of the YAML files."""

ELSEWHERE = "hydra.searchpath="
"""An override that names files of the user's, of which nothing is kept."""

CONTENT = "content"
"""The key of what was composed, in its own order, which decides on the order of settings and rows."""


def kept(overrides: Sequence[str], compose: Callable[[Sequence[str]], DictConfig]) -> dict[str, Any]:
    """The content of ``compose(overrides)``, unresolved: from its file, or else composed now and kept."""
    if any(line.startswith(ELSEWHERE) for line in overrides):
        return _content(compose(overrides))
    home = Path(conf.__path__[0])
    path = home / FOLDER / f"{_stamp(home)}-{_digest(json.dumps(list(overrides)).encode())}.json"
    if (found := _whole(path)) is not None:
        return found
    made = _content(compose(overrides))
    if not sys.dont_write_bytecode:
        with suppress(OSError, StorageError, TypeError):  # nobody needs it
            _keep(path, made)
    return made


def _content(composed: DictConfig) -> dict[str, Any]:
    content = OmegaConf.to_container(composed, resolve=False)
    assert isinstance(content, dict)
    return {str(name): value for name, value in content.items()}


def _whole(path: Path) -> dict[str, Any] | None:
    """What `_keep` wrote to `path`; None where nothing is, or something else."""
    with suppress(OSError):
        text = path.read_bytes()
        if file_state(text) is FileState.WHOLE:
            found: dict[str, Any] = json.loads(text)[CONTENT]
            return found
    return None


def _keep(path: Path, made: dict[str, Any]) -> None:
    """Writes `made`, unless JSON would change it, and removes what was kept of other contents."""
    text = json.dumps({KEY: BLANK, CONTENT: made})
    if json.loads(text)[CONTENT] != made:
        return
    path.parent.mkdir(exist_ok=True)
    write_bytes(path, with_own_digest(text.encode()))
    for other in path.parent.glob("*.json"):
        if not other.name.startswith(path.name.split("-", 1)[0]):
            other.unlink(missing_ok=True)


@functools.cache
def _stamp(home: Path) -> str:
    """A digest of all YAML files below `home` and of the versions that compose them."""
    parts = [f"{sys.version} {hydra.__version__} {omegaconf.__version__}".encode()]
    for path in sorted(home.rglob("*.yaml")):
        parts += [path.relative_to(home).as_posix().encode(), path.read_bytes()]
    return _digest(*parts)


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d " % len(part) + part)
    return digest.hexdigest()[:16]
