"""Checks the names on a command line against those that exist, without importing torch.

A key is right if it exists for the option that was chosen of its group: ``sampler.ladder`` does for
``sampler=pt_dmala`` and does not for ``sampler=dmala``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import OmegaConf

from runner.config.compose import choice, initialise, one_sentence_errors, options, parsed
from runner.config.kinds import PROJECT
from runner.config.tempering import without_leftovers
from runner.execution.errors import UserError, listed, nearest, unknown

EXPERIMENT = "experiment"

NOT_OF_HYDRA = {
    "hydra.run.dir": "each run has a folder of its own below output_root=DIR",
    "hydra.job.chdir": "a run stays in the current folder, and output_root=DIR says where its results are",
}
"""Keys of Hydra that a run has no use for, and what there is instead."""


def parse(lines: Sequence[str]) -> list[Override]:
    """The overrides on a command line.

    Raises:
        UserError: for one that cannot be read.
    """
    for line in lines:
        if "=" not in line and not line.startswith("~"):
            raise UserError(f"An override has the form key=value, '{line}' was given.")
    return [parsed(line) for line in lines]


def is_hydra(override: Override) -> bool:
    """Whether it is about Hydra itself: its launcher, its search path, ..."""
    return override.key_or_group.startswith(("hydra.", "hydra/"))


def other_sweeper(overrides: Sequence[Override]) -> bool:
    """Whether a sweeper of Hydra's other than the product of all values is asked for."""
    return any(o.key_or_group == "hydra/sweeper" and o.value() != "basic" for o in overrides)


class Names:
    """The names of all groups, options and keys, looked up when they are asked for.

    Args:
        hydra_overrides: the overrides of Hydra itself, among them the search path.
    """

    def __init__(self, hydra_overrides: Sequence[str]) -> None:
        initialise()
        self.hydra = tuple(hydra_overrides)
        self.groups = [group for group in options("", self.hydra, groups=True) if group != "hydra"]

    def options(self, group: str) -> list[str]:
        """The options of a group."""
        return options(group, self.hydra)

    def composed(self, *chosen: str) -> dict[str, Any]:
        """The configuration under the choices `chosen` of groups, unresolved."""
        return choice((*self.hydra, *chosen))

    def check_hydra(self, override: Override) -> None:
        """Refuses an unknown launcher, sweeper or other option of Hydra's.

        Raises:
            UserError: with the nearest name.
        """
        group, value = override.key_or_group, None if override.is_delete() else override.value()
        if group in NOT_OF_HYDRA and value not in (None, False):
            raise UserError(f"{group} is not used: {NOT_OF_HYDRA[group]}; '{override.input_line}' was given.")
        if "/" in group and isinstance(value, str) and value not in self.options(group):
            if group == "hydra/launcher" and value in ("joblib", "ray", "slurm"):
                raise UserError(f"The launcher {value} is an extra: pip install -e '.[dev,{value}]' adds it.")
            raise unknown(group.removeprefix("hydra/"), value, self.options(group))

    def check(self, lines: Sequence[str]) -> None:
        """Refuses the overrides of one job (none of them a sweep) if a name in them does not exist.

        Raises:
            UserError: with the nearest name and the names that there are.
        """
        overrides = parse(lines)
        for override in overrides:
            if self._is_group(override):
                self._check_option(override)
        chosen = [o.input_line or "" for o in overrides if self._is_group(o)]
        own = own_nodes(overrides)
        keys = [o for o in overrides if not self._is_group(o) and not _inside(o.key_or_group, own)]
        if keys:
            config = self.composed(*chosen)
            config = {**config, "sampler": without_leftovers(config["sampler"])}
            known = flattened(config)
            for override in keys:
                key, value = override.key_or_group, None if override.is_delete() else override.value()
                inside = flattened(value, f"{key}.") if isinstance(value, dict) else []
                if not any(name.startswith(f"{key}.") for name in known):
                    inside = []  # of a plain value, which is replaced as a whole
                for each in (key, *inside):
                    self._check_key(each, override, config)

    def _is_group(self, override: Override) -> bool:
        return override.key_or_group in self.groups and not override.is_delete()

    def _check_option(self, override: Override) -> None:
        group, value = override.key_or_group, override.value()
        names = value if isinstance(value, list) else [value]
        if not names:
            raise UserError(f"{group} must be one name or a list of some, [] was given.")
        if group == EXPERIMENT and not override.is_add():
            raise UserError(f"An experiment is chosen with a plus: +{EXPERIMENT}={value}.")
        if isinstance(value, list) and group != "metric":
            raise UserError(
                f"{group} takes one name, {value!r} was given; a sweep is "
                f"-m {group}={','.join(map(str, value))}."
            )
        for name in names:
            if name not in self.options(group):
                raise unknown(group, "null" if name is None else str(name), self.options(group))

    def _check_key(self, key: str, override: Override, config: Mapping[str, Any]) -> None:
        if override.is_delete():
            raise UserError(f"Keys cannot be removed, '{override.input_line}' was given.")
        root = key.split(".", 1)[0]
        node = config.get(root)
        known = flattened(config) if root not in self.groups or "." not in key else flattened({root: node})
        if key in known:
            return
        target = node.get("_target_") if isinstance(node, dict) else None
        foreign = isinstance(target, str) and not target.startswith(PROJECT)
        if override.is_add() and root in self.groups and foreign:
            return
        if "." in key and root in self.groups:
            chosen = f"{root}={node.get('name')}" if isinstance(node, dict) and "name" in node else root
            values = [name for name in known if not name.endswith((".name", "_target_"))]
            inside = [name.removeprefix(f"{root}.") for name in values if name != root]
            near = nearest(key.removeprefix(f"{root}."), inside).replace("mean '", f"mean '{root}.")
            raise UserError(f"Unknown key '{key}'{near or '.'} {chosen} has: {listed(inside)}.")
        top = [name for name in config if name != "table"]
        if "." in key and root in config:
            raise UserError(f"Unknown key '{key}'{nearest(key, known) or '.'}")
        raise UserError(f"Unknown key '{key}'{nearest(key, [*top, *known]) or '.'} There are: {listed(top)}.")


def flattened(content: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every dotted key in `content`, those of inner nodes included."""
    keys: list[str] = []
    for name, value in content.items():
        keys.append(f"{prefix}{name}")
        if isinstance(value, Mapping):
            keys += flattened(value, f"{prefix}{name}.")
    return keys


def own_nodes(overrides: Sequence[Override]) -> list[str]:
    """The nodes whose class the overrides name: ``target`` for ``target._target_=mypackage.MyTarget``."""
    suffix = "._target_"
    return [o.key_or_group.removesuffix(suffix) for o in overrides if o.key_or_group.endswith(suffix)]


def _inside(key: str, nodes: Sequence[str]) -> bool:
    return any(key.startswith(f"{node}.") for node in nodes)


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
        inside = _inside(override.key_or_group, own)
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
                written.append(f"++{key}={str(path).rsplit('.', 1)[-1]}")
            elif name not in ("_target_", "name") and not any(
                t == key or t.startswith(f"{key}.") for t in touched
            ):
                # Hydra looks at a value before it removes it, and takes null for a key that is not there.
                seen = not OmegaConf.is_interpolation(inherited, name) and inherited[name] is not None
                written += [f"~{key}"] if seen else [f"++{key}=0", f"~{key}"]
    return written


EXPONENT = re.compile(r"(\+{0,2}[^=]+)=(\d+(?:\.\d+)?[eE]\+?\d+)")
"""``task.steps=1e4``, which Hydra reads as a number that is not whole."""


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
            if default is None or (isinstance(default, int) and not isinstance(default, bool)):
                line = f"{found[1]}={int(value)}"
        written.append(line)
    return written
