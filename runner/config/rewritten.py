"""Overrides of one job as Hydra must get them to do what they say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from omegaconf import OmegaConf

from runner.config.compose import one_sentence_errors
from runner.config.overrides import Names, is_inside, own_nodes, parse
from runner.execution.override_values import quoted


def with_own_classes(lines: Sequence[str], names: Names) -> list[str]:
    """The overrides of one job, so that a class they name gets the arguments they name and no others.

    ``target._target_=mypackage.MyTarget +target.d=5`` is written on top of whatever option of `target` is
    in force; what that option would pass to its own class is taken out. Applied twice it changes no more.
    """
    overrides = parse(lines)
    own = own_nodes(overrides)
    if not own:
        return list(lines)
    chosen = [o.input_line or "" for o in overrides if o.key_or_group in names.groups]
    config = OmegaConf.create(names.composed(*chosen))
    written: list[str] = []
    for override in overrides:
        line = override.input_line or ""
        argument = not override.key_or_group.endswith("._target_") and not override.is_delete()
        inside = is_inside(override.key_or_group, own)
        written.append(f"++{line.lstrip('+')}" if inside and argument else line)
    for node in own:
        inherited = OmegaConf.select(config, node)
        touched = [o.key_or_group for o in overrides if o.key_or_group.startswith(f"{node}.")]
        if not OmegaConf.is_dict(inherited):
            continue
        for name in inherited:
            key = f"{node}.{name}"
            if name == "name" and key not in touched:
                path = next(o.value() for o in overrides if o.key_or_group == f"{node}._target_")
                # In quotes where it would be read as another value, as Nan.
                written.append(f"++{key}={quoted(str(path).rsplit('.', 1)[-1])}")
            elif name not in ("_target_", "name") and not any(
                t == key or t.startswith(f"{key}.") for t in touched
            ):
                # Hydra looks at a value before it removes it, and takes null for a key that is not there.
                seen = not OmegaConf.is_interpolation(inherited, name) and inherited[name] is not None
                written += [f"~{key}"] if seen else [f"++{key}=0", f"~{key}"]
    return written


def as_given(lines: Sequence[str]) -> list[str]:
    """`lines` as `with_own_classes` got them, which makes the same of them where they are repeated.

    An argument of a user's own class has one plus, whatever was given.
    """
    paths = dict(line.lstrip("+").split("=", 1) for line in lines if "._target_=" in line)
    names = {
        f"{key.removesuffix('_target_')}name={quoted(path.rsplit('.', 1)[-1])}" for key, path in paths.items()
    }
    removed = {f"{line.removeprefix('~')}=0" for line in lines if line.startswith("~")}
    added = {f"++{line}" for line in names | removed}
    kept = [line for line in lines if not line.startswith("~") and line not in added]
    own = [key.removesuffix("._target_") for key in paths]
    return [
        line.removeprefix("+") if is_inside(line.lstrip("+").split("=", 1)[0], own) else line for line in kept
    ]


EXPONENT = re.compile(r"(\+{0,2}[^=]+)=(\d+\.0|\d+(?:\.\d+)?[eE]\+?\d+)")
"""``task.steps=1e4``, which Hydra reads as a number that is not whole, and writes in a sweep as 10000.0."""


def with_whole_numbers(lines: Sequence[str], names: Names) -> list[str]:
    """The overrides of one job, so that ``1e4`` is 10000 where the default is a whole number or null.

    No run gets another id by it: a hash does not tell 10000.0 from 10000.
    """
    if not any(EXPONENT.fullmatch(line) for line in lines):
        return list(lines)
    chosen = [
        o.input_line or "" for o in parse(lines) if o.key_or_group in names.groups and not o.is_delete()
    ]
    config = OmegaConf.create(names.composed(*chosen))
    written = []
    for line in lines:
        found = EXPONENT.fullmatch(line)
        value = float(found[2]) if found else math.nan
        if found and value.is_integer() and abs(value) < 2**53:
            with one_sentence_errors():
                default = OmegaConf.select(config, found[1].lstrip("+"))
            unset = default is None and not found[2].endswith(".0")
            if unset or (isinstance(default, int) and not isinstance(default, bool)):
                line = f"{found[1]}={int(value)}"
        written.append(line)
    return written
