"""Files of data sets whose content is known, by their SHA-256, and what files add to an identity.

`conf/dataset` and `conf/tabular` list the digests at `sha256_of`, by path below `data.root`: of the content
without compression, or of the file as it was published. A description without that key has no files that are
verified here.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError, reason
from targets.datasets.files.user_paths import folder_is_there, user_path

if TYPE_CHECKING:
    from targets.datasets.files.places import Place

SHOWN = 16
"""Digits of a digest in a sentence and in an identity."""


def verifies(config: DictConfig) -> bool:
    """Whether files that are not known are refused.

    Raises:
        UserError: if `data.verify` is neither true nor false.
    """
    given = OmegaConf.select(config, "data.verify", default=True)
    if not isinstance(given, bool):
        raise UserError(f"data.verify must be true or false, {given!r} was given.")
    return given


@contextmanager
def only_known(name: str, spec: Mapping[str, Any], root: str | None, verify: bool) -> Iterator[None]:
    """Within it a set is loaded: what is there is checked before, what was downloaded afterwards.

    Raises:
        UserError: if `verify` and a file is not known.
    """
    if verify:
        check_known(name, spec, root)
    yield
    if verify:
        check_known(name, spec, root)


def check_known(name: str, spec: Mapping[str, Any], root: Any, places: Sequence[Place] = ()) -> None:
    """Refuses files that are not known; where a set is not there it has nothing to say.

    Args:
        spec: the description of the set `name`.
        root: folder of all data sets.
        places: where the files are, if not where `spec` says.

    Raises:
        UserError: naming the file, its digest and what to do.
    """
    from targets.datasets.files.places import gzipped_beside

    for path, (file, digest) in _unknown(spec, root, places).items():
        expected = [known[:SHOWN] for known in spec["sha256_of"].get(path, ())]
        gzipped = gzipped_beside(file)
        what = f"remove it, so that '{gzipped}' is read" if gzipped else "put the published file there"
        known = f"those known are {' and '.join(expected)}" if expected else "none is known of this file"
        raise UserError(
            f"data.verify=true refuses '{file}' of {name}: its SHA-256 begins with "
            f"{digest[:SHOWN]}, {known}; {what}, or give data.verify=false, which "
            "makes the digest a part of each run's identity."
        )


def added_identity(
    name: str, spec: Mapping[str, Any], root: Any, places: Sequence[Place] = (), verify: bool = False
) -> dict[str, dict[str, str]]:
    """``files``: the beginning of the digest of each file that the name does not tell, by path below `root`.

    Those are files that are not known, and all of a later place where those of the first are known as well.
    Nothing where all are known in the one place, whether `verify` or not.

    Raises:
        UserError: if files are damaged, or `verify` is false and the set is not there, as it is not known
            then which files a download brings.
    """
    from targets.datasets.files.places import found

    if verify:
        return {"files": later} if (later := _later(spec, root)) else {}
    later = {} if places else _later(spec, root)
    places = places or file_places(spec)
    folder = None if root is None else user_path(str(root))
    if (
        "sha256_of" in spec
        and folder is not None
        and folder_is_there(folder)
        and found(folder, places) is None
    ):
        raise UserError(
            f"data.verify=false makes the files of {name} a part of each run's identity, and they are not in "
            f"'{root}': put {' and '.join(places[0].values())} there, or start the command once with "
            "data.verify=true, which downloads them, and then again with data.verify=false."
        )
    unknown = {path: digest[:SHOWN] for path, (_, digest) in _unknown(spec, root, places).items()}
    files = unknown | later
    return {"files": files} if files else {}


def full_note(note: str | None, spec: Mapping[str, Any], root: Any) -> str | None:
    """The `note` of a set that was loaded, with the files of it that are not known; None for nothing.

    Args:
        spec: the description of the set.
        root: folder of all data sets.
    """
    unknown = [
        f"not the known file {path} (its SHA-256 begins with {digest[:SHOWN]})"
        for path, (_, digest) in _unknown(spec, root, ()).items()
    ]
    return "; ".join([*([note] if note else []), *unknown]) or None


def file_places(spec: Mapping[str, Any]) -> list[dict[str, str]]:
    """Where the files of a set may be below the root, by role; the first complete place is read."""
    if "places" in spec:
        return [dict(place) for place in spec["places"]]
    first = spec.get("files") or spec.get("originals") or {"all": spec.get("file")}
    later = [{"all": spec["derived"]}] if "derived" in spec else []
    return [
        {role: path if isinstance(path, str) else path["path"] for role, path in place.items()}
        for place in (first, *later)
    ]


def _unknown(spec: Mapping[str, Any], root: Any, places: Sequence[Place]) -> dict[str, tuple[Path, str]]:
    """By path below `root`: the file, and the digest of its content."""
    if "sha256_of" not in spec or root is None:
        return {}
    _, files = _read(root, places or file_places(spec))
    read = {path: (file, _digests_of(file)) for path, file in files.items()}
    return {
        path: (file, digests[0])
        for path, (file, digests) in read.items()
        if not set(digests) & set(spec["sha256_of"].get(path, ()))
    }


def _later(spec: Mapping[str, Any], root: Any) -> dict[str, str]:
    """By path below `root`: the beginning of the digest of each file, if those of a later place are read.

    Nothing where no file of an earlier place is known: such files have digests in each identity themselves.
    """
    places = spec.get("places", ())  # images in `derived` are those of the originals
    if len(places) < 2 or root is None:
        return {}
    place, files = _read(root, places)
    earlier = {path for each in places[:place] for path in each.values()}
    known = spec.get("sha256_of", {})
    return (
        {path: _digests_of(file)[0][:SHOWN] for path, file in files.items()} if earlier & set(known) else {}
    )


def _read(root: Any, places: Sequence[Place]) -> tuple[int, dict[str, Path]]:
    """Which place is read, the first complete one, and its files by path below `root`; none without one."""
    from targets.datasets.files.places import found

    folder = user_path(str(root))
    for number, place in enumerate(places):
        files = found(folder, [place])
        if files is not None:
            return number, {path: files[role] for role, path in place.items()}
    return 0, {}


def _digests_of(path: Path) -> tuple[str, str]:
    """SHA-256 of the content of a file, and of the file as it lies there."""
    try:
        status = path.stat()
        return _digests(path, status.st_size, status.st_mtime_ns, status.st_ino)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"'{path}' is damaged or cannot be read: {reason(error)}.") from error


@functools.cache
def _digests(path: Path, size: int, changed: int, inode: int) -> tuple[str, str]:
    """`_digests_of`, once in a process for a file that has not changed: a sweep asks for each of its jobs."""
    from targets.datasets.files.places import GZIP

    with path.open("rb") as file:
        as_it_lies = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        if file.read(len(GZIP)) != GZIP:
            return as_it_lies, as_it_lies
        file.seek(0)
        with gzip.open(file) as content:
            return hashlib.file_digest(content, "sha256").hexdigest(), as_it_lies
