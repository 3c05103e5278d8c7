"""The command that measures a recorded table, or a part of one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def measured_by(experiment: str, scale: str, overrides: Sequence[str] = ()) -> str:
    """A ``make`` command.

    Args:
        scale: of the record, with the name of the part behind a hyphen.
        overrides: those that the record was made with, as its manifest has them.
    """
    name = scale.partition("-")[0]
    words = ["make", experiment.replace("_", "-"), *([] if name == "quick" else [f"SCALE={name}"])]
    return " ".join([*words, *([f"ARGS={shlex.quote(shlex.join(overrides))}"] if overrides else [])])
