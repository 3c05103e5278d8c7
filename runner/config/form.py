"""The form that every configuration has: checked once it is composed, whatever a command or a YAML says.

What belongs to a part (a target's arguments, a task's settings) is checked by that part. This checks what
all of the runner takes for granted: that groups are groups, that names and paths are text, that every
reference leads somewhere.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import GrammarParseError, InterpolationResolutionError, OmegaConfBaseException

import conf
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError, listed

GROUPS = (
    "target",
    "sampler",
    "tempering",
    "metric",
    "task",
    "scale",
    "logger",
    "data",
    "checkpoint",
    "tuning",
)
"""Keys that hold keys."""

NAMED = ("target", "sampler", "task")
"""Those by whose names tables tell runs apart."""

TEXTS = {"output_root": False, "data.root": True, "experiment": True, "model": True}
"""Keys that hold text, and whether they may be null."""

FOLDER = re.compile(r"\w[\w.+-]{0,99}")
LONGEST_TEXT = 4096
"""Characters of a text: the longest path that Linux takes."""

DEEPEST = 30
"""Groups and lists inside each other at most; the deepest of ours is 5."""

ESCAPE = "\\$"
"""Begins what looks like a reference and is text."""

UNRESOLVED = ("${", "???")
"""Without them in its text a group has no reference, escaped or not, and no value that is missing."""

PLAIN_SIGN = "where ${ is meant as text, write \\${ (in a shell, inside single quotes)"
"""What is said where a reference leads to no group: it may have been the name of a folder."""

MISSING = re.compile(r"^Interpolation key '((\w+(?:\.\w+)*)\.[^'.]+)' not found")
"""What OmegaConf says where a key is missing in the group that it names."""

TEMPERING = "tempering."
"""Where a tempering has its keys until it is a part of its sampler."""

BLOCKS = ("sweep", "table")
"""An experiment's own, which no run reads."""

MOST_SEEDS = 10_000
"""Seeds of one scale at most."""


def check_form(config: DictConfig, *, resolve: bool = False) -> None:
    """Refuses a composed configuration that is none.

    Args:
        resolve: whether values take the places of references inside the groups of `config`, which are then
            faster to read; not in a group with an escaped one, which would become a reference.

    Raises:
        UserError: naming the key, the value and what is allowed.
    """
    found = {
        str(key): resolved_value(config, str(key), in_place=resolve) for key in config if key not in BLOCKS
    }
    for key, value in _walk(found):
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise UserError(f"{key} must have at most {LONGEST_TEXT} characters, {len(value)} were given.")
    _check_sweep(config)
    for key in GROUPS:
        if not isinstance(found.get(key), dict):
            raise UserError(f"{key} must be a group of keys, {found.get(key)!r} was given.")
    for key, null in TEXTS.items():
        value = _at(found, key)
        if not (isinstance(value, str) and value.isprintable()) and not (null and value is None):
            raise UserError(
                f"{key} must be {'null or ' if null else ''}text on one line, {value!r} was given."
            )
    scale = found["scale"].get("name")
    if not isinstance(scale, str) or not FOLDER.fullmatch(scale):
        raise UserError(
            "scale.name must be a plain name of letters, digits and . _ + -, since a folder is called by it, "
            f"{scale!r} was given."
        )
    for key in GROUPS:
        name = found[key].get("name")
        if name is not None and (not isinstance(name, str) or not name or not name.isprintable()):
            raise UserError(f"{key}.name must be text on one line, {name!r} was given.")
    for key in NAMED:
        check_own_name(found[key], key)
    seeds = found["scale"].get("seeds")
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MOST_SEEDS:
        raise UserError(f"scale.seeds must be a whole number from 1 to {MOST_SEEDS:,}, {seeds!r} was given.")


def check_own_name(part: Mapping[Any, Any], key: str) -> None:
    """Refuses a class of a user's own by the name of one of ours: tables would take both for the same.

    A tempered sampler is called by its kernel, which is looked at before it is tempered.

    Raises:
        UserError: naming the key, the name and the class.
    """
    path, name = part.get("_target_"), part.get("name")
    own = isinstance(path, str) and not path.startswith(PROJECT) and "kernel" not in part
    if own and name in _names_of_ours(key):
        raise UserError(
            f"{key}.name={name} is the name of a {key} of this project, and {path} is another class: give "
            f"it a name of its own, such as {str(path).rsplit('.', 1)[-1]}."
        )


@functools.cache
def _names_of_ours(group: str) -> frozenset[str]:
    return frozenset(path.stem for path in (Path(conf.__path__[0]) / group).glob("*.yaml"))


def _check_sweep(config: DictConfig) -> None:
    """Refuses a `sweep` that is no group; what an experiment's own keys refer to is not resolved."""
    try:
        given = config.get("sweep")
    except OmegaConfBaseException as error:
        raise unresolved("sweep", error, config) from error
    if not OmegaConf.is_dict(given):
        raise UserError(f"sweep must be a group of keys, {given!r} was given.")


def resolved_value(config: DictConfig, key: str, *, in_place: bool = False) -> Any:
    """What stands at `key`, every reference in it replaced; if `in_place`, in `config` too.

    Raises:
        UserError: naming the key whose reference leads nowhere or in a circle, or that has no value.
    """
    try:
        value = config[key]
        if not OmegaConf.is_config(value):
            return value
        plain = OmegaConf.to_container(value, resolve=False)
        text = str(plain)
        if not any(sign in text for sign in UNRESOLVED):
            return plain  # most groups are, and to resolve one takes ten times as long
        if in_place and ESCAPE not in text:
            OmegaConf.resolve(value)
        return OmegaConf.to_container(value, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        if in_place:
            return resolved_value(config, key)  # its error names the key inside a group
        raise unresolved(getattr(error, "full_key", None) or key, error, config) from error
    except RecursionError as error:
        raise UserError(f"{key} is nested too deeply, or refers to itself.") from error


def unresolved(key: str, error: OmegaConfBaseException, config: DictConfig | None = None) -> UserError:
    """What is said of the value at `key` where OmegaConf cannot resolve it; of `config`, if that is known."""
    said = str(error).strip().split("\n", 1)[0].rstrip(".:")
    if isinstance(error, GrammarParseError | InterpolationResolutionError):
        said += f"; {_others_there(said, config) or PLAIN_SIGN}"
    return UserError(f"{key} cannot be resolved: {said}.")


def _others_there(said: str, config: DictConfig | None) -> str | None:
    """The keys beside the one that a reference names and does not find; None where there is no such group.

    Such a reference was meant as one: ``${edlp.n_hidden.${target.tabular}}`` of another table.
    """
    missing = MISSING.search(said)
    if missing is None or config is None:
        return None
    key, place = missing.groups()
    folded = f"sampler.{key.removeprefix(TEMPERING)}"
    if key.startswith(TEMPERING) and OmegaConf.select(config, folded, default=None) is not None:
        return f"the keys of a tempering are referred to where they are folded in, ${{{folded}}}"
    group = OmegaConf.select(config, place, default=None)
    return f"{place} has {listed(map(str, group))}" if OmegaConf.is_dict(group) else None


def _walk(node: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every dotted key in `node` with its value.

    Raises:
        UserError: if more than `DEEPEST` groups or lists are inside each other.
    """
    if depth > DEEPEST:
        top = key.split(".", 1)[0]
        raise UserError(f"{top} must not have more than {DEEPEST} levels of nested groups or lists.")
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in inside:
        here = f"{key}.{name}" if key else str(name)
        yield here, value
        yield from _walk(value, here, depth + 1)


def _at(found: dict[str, Any], key: str) -> Any:
    """The value at a dotted key of known groups."""
    first, _, second = key.partition(".")
    return found[first].get(second) if second else found.get(first)
