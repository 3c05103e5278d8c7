"""Checks the names on a command line against those that exist, without importing torch.

A key is right if it exists for the option that was chosen of its group: ``sampler.ladder`` does for
``sampler=pt_dmala`` and does not for ``sampler=dmala``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Glob, Override

from metrics.reserved_names import OF_EVERY_RUN
from runner.config.compose import choice, initialise, options, parsed_override
from runner.config.kinds import PROJECT
from runner.config.run_settings import untempered
from runner.config.sources.hidden_files import check_hidden
from runner.config.tempering import without_leftovers
from runner.execution.errors import UserError, listed, nearest, unknown

EXPERIMENT = "experiment"

FORCED = "++"
"""The sign of an override that adds its key where it is not there."""

SEARCH_PATH = "hydra.searchpath"

OF_CLASSES = ("target", "sampler", "task")
CLASS = re.compile(r"\w+(\.\w+)*\.[A-Z]\w*")
"""The path of a class, by its capital letter; ``gibbs.yaml`` is none."""

SIGN_ALONE = re.compile(r"^(\+\+(?=\w+=)|\+{1,2}(?=hydra\.searchpath=))")
"""The sign of a key that is always there, or else refused: it says nothing, and hides the search path."""

OF_TARGETS = ("dataset", "tabular")
"""Groups whose names are values of a target's key."""

OF_SWEEPS = ("hydra/launcher", "hydra/sweeper")
"""Groups of Hydra that only a command with -m has a use for."""

IN_SWEEPS = re.compile(r"hydra\.(launcher|sweeper|sweep)(\.|$)")
"""Keys of Hydra that only a command with -m has a use for."""

NOT_OF_HYDRA = {
    "hydra.mode": "-m before the overrides makes a sweep of all their values",
    "hydra.verbose": "HYDRA_FULL_ERROR=1 in the environment shows where an error is from",
    "hydra.sweeper.params": "the values of a key stand in the command, such as -m seed=0,1",
    "hydra.run.dir": "each run has a folder of its own below output_root=DIR",
    "hydra.job.chdir": "a run stays in the current folder, and output_root=DIR says where its results are",
}
"""Keys of Hydra that a run has no use for, and what there is instead."""


def parse(lines: Sequence[str]) -> list[Override]:
    """The overrides on a command line; ``++seed=7`` is ``seed=7``, as is all that is at the top.

    Raises:
        UserError: for one that cannot be read.
    """
    for line in lines:
        if "=" not in line and not line.startswith("~"):
            raise UserError(f"An override has the form key=value, '{line}' was given.")
    return [parsed_override(SIGN_ALONE.sub("", line)) for line in lines]


def is_hydra(override: Override) -> bool:
    """Whether it is about Hydra itself: its launcher, its search path, ..."""
    return override.key_or_group.startswith(("hydra.", "hydra/"))


def other_sweeper(overrides: Sequence[Override]) -> bool:
    """Whether a sweeper of Hydra's other than the product of all values is asked for."""
    return any(o.key_or_group == "hydra/sweeper" and o.value() != "basic" for o in overrides)


def check_one_job(hydra: Sequence[str]) -> None:
    """Refuses a launcher or a sweeper for a command without -m, in which Hydra uses neither.

    Raises:
        UserError: naming it.
    """
    for override in parse(hydra):
        if override.key_or_group in OF_SWEEPS and not override.is_delete() and override.value() != "basic":
            raise _needs_multirun(override)


def check_keys_of_one_job(overrides: Sequence[Override]) -> None:
    """Refuses keys of a launcher or a sweeper for a command without -m; it may be in force or not.

    Raises:
        UserError: naming the key.
    """
    for override in overrides:
        if IN_SWEEPS.match(override.key_or_group):
            raise _needs_multirun(override)


def _needs_multirun(override: Override) -> UserError:
    return UserError(f"{override.input_line} needs -m, since a command without it runs in this process.")


class Names:
    """The names of all groups, options and keys, looked up when they are asked for.

    Args:
        hydra_overrides: the overrides of Hydra itself, among them the search path.

    Raises:
        UserError: for a file on the search path that is never read.
    """

    def __init__(self, hydra_overrides: Sequence[str]) -> None:
        initialise()
        self.hydra = tuple(hydra_overrides)
        check_hidden(_places(self.hydra))
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
        unused = next((key for key in NOT_OF_HYDRA if is_inside(f"{group}.", [key])), None)
        if unused is not None and value not in (None, False):
            raise UserError(
                f"{group} is not used: {NOT_OF_HYDRA[unused]}; '{override.input_line}' was given."
            )
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
        keys = [o for o in overrides if not self._is_group(o) and not is_inside(o.key_or_group, own)]
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
        if group in OF_TARGETS:
            raise UserError(f"A name of {group} is given to the target: target.{group}={names[0]}.")
        if group == EXPERIMENT and not override.is_add():
            raise UserError(f"An experiment is chosen with a plus: +{EXPERIMENT}={value}.")
        if isinstance(value, list) and group != "metric":
            raise UserError(
                f"{group} takes one name, {value!r} was given; a sweep is "
                f"-m {group}={','.join(map(str, value))}."
            )
        for name in names:
            if isinstance(name, Glob):
                raise UserError(
                    f"{group} takes names, no pattern in a list, '{override.input_line}' was given."
                )
            if name not in self.options(group):
                if group in OF_CLASSES and CLASS.fullmatch(str(name)):
                    raise UserError(f"{group} takes a name; a class is given as {group}._target_={name}.")
                raise self._unknown_option(group, "null" if name is None else str(name))

    def _unknown_option(self, group: str, name: str) -> UserError:
        if group == "metric" and name in OF_EVERY_RUN:
            return UserError(f"metric={name} must be left out, since every run has its {name}.")
        # What tables call a sampler under a tempering.
        if group == "sampler" and (choices := untempered(name, self.hydra)):
            return UserError(f"Unknown sampler '{name}'; it is written {' '.join(choices)}.")
        return unknown(group, name, self.options(group))

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


def _places(hydra_overrides: Sequence[str]) -> tuple[str, ...]:
    """What the search path names; nothing where it is no list of texts, which Hydra refuses."""
    given = [o.value() for o in parse(hydra_overrides) if o.key_or_group == SEARCH_PATH and not o.is_delete()]
    places = given[-1] if given and isinstance(given[-1], list) else []
    return tuple(place for place in places if isinstance(place, str))


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


def is_inside(key: str, nodes: Sequence[str]) -> bool:
    """Whether the dotted `key` stands in one of `nodes`."""
    return any(key.startswith(f"{node}.") for node in nodes)
