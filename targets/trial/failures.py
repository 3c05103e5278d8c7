"""What went wrong in somebody's code, in one sentence: the error and the line that it came from."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

OURS = tuple(str(Path(__file__).parents[2] / floor) for floor in ("targets", "samplers", "metrics", "runner"))
STANDARD = sysconfig.get_path("stdlib")


def is_refusal(error: BaseException) -> bool:
    """Whether it is a ValueError that code of this project or of a user raised: its message is a sentence.

    One of Python or of a library, such as ``too many values to unpack``, does not say where it comes from.
    """
    if not isinstance(error, ValueError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    library = "site-packages" in last.filename or last.filename.startswith(STANDARD)
    return not last.line or (last.line.startswith("raise") and not library)


def failure(error: BaseException) -> str:
    """Type and message of `error`, and the last line outside of this project and of libraries, if any."""
    if isinstance(error, SystemExit):
        said = f"its code calls sys.exit({error.code!r})"
    else:
        said = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": .")
    where = own_line(error)
    return f"{said} ({where})" if where else said


def own_line(error: BaseException) -> str:
    """The last line outside of this project and of libraries that `error` came from, or nothing."""
    theirs = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((*OURS, STANDARD, "<")) and "site-packages" not in frame.filename
    ]
    return f"{Path(theirs[-1].filename).name}, line {theirs[-1].lineno}" if theirs else ""
