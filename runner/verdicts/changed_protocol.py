"""Overrides under which a table was recorded that make its protocol another one than its experiment's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.config.experiments.changing_overrides import GROUPS, changing_overrides

NEUTRAL = (
    "seed",
    "row",
    "compile",
    "device",
    "threads",
    "streams",
    "scale.name",
    "scale.seeds",
    "data.root",
    "data.verify",
    "checkpoint",
    "sweep",
    "objective",
)
"""Keys that say which runs a table is of, or how they were computed, but not what they were given."""


def changing(experiment: str, scale: str, overrides: Sequence[str]) -> tuple[str, ...]:
    """Those of a record's overrides that do more than choose among the runs of `experiment` at `scale`.

    Raises:
        UserError: if one cannot be read.
    """
    changed = changing_overrides(experiment, [f"scale={scale}", *overrides]) if overrides else []
    return tuple(line for line in overrides if line in changed or not _is_neutral(line))


def _is_neutral(line: str) -> bool:
    """Whether it says nothing of a protocol, or is for `changing_overrides` to judge."""
    key = _key(line)
    return any(key == name or key.startswith(f"{name}.") for name in (*NEUTRAL, *GROUPS))


def _key(line: str) -> str:
    return line.lstrip("+~").partition("=")[0].replace("/", ".").partition("@")[0]


def differences(changed: Sequence[str]) -> Mapping[str, str]:
    """What `changed` overrides make another one than the published, by kind."""
    kinds = {"target": [line for line in changed if _key(line).split(".")[0] == "target"]}
    kinds["budget"] = [line for line in changed if line not in kinds["target"]]
    return {kind: f"recorded with {', '.join(lines)}" for kind, lines in kinds.items() if lines}
