"""Files on the user's search path that are never read, since one of ours has the same name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import conf
from runner.config.sources.edited_files import until_edited
from runner.config.sources.searched_files import OURS
from runner.execution.errors import UserError

PACKAGE = "pkg"
"""The scheme of a place that is a package; any other place is a folder."""


@until_edited
def check_hidden(places: tuple[str, ...]) -> None:
    """Refuses a file that Hydra would pass over, since it looks for a name among ours first.

    A copy of ours is no mistake.

    Args:
        places: what ``hydra.searchpath`` names, such as ``file://mine``; Hydra refuses one that is not there.

    Raises:
        UserError: naming both files.
    """
    for place in places:
        root = _root(place)
        if root is None or not root.is_dir():
            continue
        for ours, name in _ours():
            own = root.joinpath(name)
            if own.is_file() and own.read_bytes() != ours.read_bytes():
                raise UserError(f"'{own}' is never read, since '{ours}' has its name; give it another one.")


def _ours() -> Iterator[tuple[Path, str]]:
    """Each of our files, and its name below the folder of all."""
    home = Path(conf.__path__[0])
    for path in sorted(home.rglob("*.yaml")):
        yield path, path.relative_to(home).as_posix()


def _root(place: str) -> Path | Traversable | None:
    """The folder that is a place of the search path; None for a package that is not there, or is ours."""
    scheme, found, name = place.partition("://")
    if not found:
        return Path(place)
    if scheme != PACKAGE:
        return Path(name)
    package, *inside = name.split("/")
    if package == OURS:
        return None
    try:
        return files(package).joinpath(*inside)
    except (ImportError, TypeError, ValueError):
        return None
