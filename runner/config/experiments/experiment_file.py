"""The file of an experiment, as Hydra composes it, and what in it is not as an experiment needs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError, listed, nearest

PACKAGE = "# @package _global_"
"""The line by which the keys of a file are those of the whole configuration, not of `experiment`."""


def experiment_content(name: str, names: Names) -> dict[str, Any]:
    """What the experiment `name` composes to.

    Raises:
        UserError: if its file lacks the line `PACKAGE`, or its key `experiment` is the name of another one.
    """
    composed = names.composed(f"+{EXPERIMENT}={name}")
    label = composed.get(EXPERIMENT)
    if isinstance(label, Mapping):
        raise UserError(f"The experiment {name} needs the line '{PACKAGE}' at the top of its file.")
    if label is not None and str(label) != name:
        raise UserError(
            f"The key experiment of the experiment {name} must be {name}, as its file is called, "
            f"'{label}' was given."
        )
    return composed


def check_scales(place: str, given: Iterable[Any], composed: Mapping[str, Any], names: Names) -> None:
    """Refuses a key that is to be the name of a scale and is none.

    Args:
        place: where the keys stand, in words.
        composed: the experiment, which may name a scale of its own by `scale.name`.

    Raises:
        UserError: with the nearest scale.
    """
    scales = {*names.options("scale"), str((composed.get("scale") or {}).get("name"))}
    for scale in map(str, given):
        if scale not in scales:
            hint = nearest(scale, scales) or "."
            raise UserError(f"{place} has the unknown scale '{scale}'{hint} Allowed: {listed(scales)}.")
