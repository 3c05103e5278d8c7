"""Digests of the files of a folder, in one of them: a run's summary, a report, or a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.execution.storage_errors import reading_refused
from runner.files.atomic_files import read_json, write_json
from runner.integrity.file_digest import digest_of

FILES = "files"
"""The key at which a JSON file has the digest of each other file, by name."""

DIGESTS = "digests.json"
"""That file, in a folder that has no other."""

TABLE = "table.csv"
"""The first file that is written of a table."""


def begin_changes(folder: Path) -> list[str]:
    """Removes the digests, as files are about to change; the names of those that had one."""
    content = read_json(folder / DIGESTS) or {}
    (folder / DIGESTS).unlink(missing_ok=True)
    return list(content.get(FILES, {}))


def write_digests(folder: Path, names: Iterable[str], earlier: Iterable[str] = ()) -> None:
    """Writes the digests of these files into a file of its own.

    Args:
        earlier: what `begin_changes` gave; those of them that are not among `names` are removed.
    """
    digests = {name: digest_of((folder / name).read_bytes()) for name in names}
    for name in set(earlier) - set(digests):
        (folder / Path(name).name).unlink(missing_ok=True)
    write_json(folder / DIGESTS, {FILES: digests})


def unfinished_table(folder: Path) -> str:
    """A sentence on a table in `folder` that has no digests, so that nobody can tell whether it is whole.

    Empty where it has them, or where there is no table.
    """
    if (folder / DIGESTS).exists() or not (folder / TABLE).exists():
        return ""
    return (
        f"The table {folder} has no {DIGESTS}: it was cut short while it was rendered, or an earlier version "
        "rendered it; render it again with `rungwise table`."
    )


def damaged_files(folder: Path) -> list[str]:
    """Names of the files that are not what `write_digests` saw; empty where there are no digests."""
    content = read_json(folder / DIGESTS)
    if content is None:
        return [DIGESTS] if (folder / DIGESTS).exists() else []
    return changed(folder, content[FILES])


def changed(folder: Path, expected: Mapping[str, Any]) -> list[str]:
    """Names of the files that are not there, or have another digest.

    Raises:
        runner.execution.storage_errors.StorageError: if one cannot be read now, which is no damage.
    """
    return [name for name, digest in expected.items() if _digest(folder / name) != digest]


def _digest(path: Path) -> str | None:
    try:
        return digest_of(path.read_bytes())
    except OSError as error:
        if (refused := reading_refused(error, path)) is not None:
            raise refused from error
        return None
