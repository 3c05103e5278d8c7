"""The settings of a run by their dotted keys, and those of them that are not the default."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import conf
from runner.config.compose import CONFIG, choice, options
from runner.config.data.instance_files import FILE, TEXT, as_read, file_name, without_places
from runner.config.kinds import PROJECT
from runner.config.sources.edited_files import until_edited
from runner.config.tempering import GROUP, PREFIX, folded
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml

CHOSEN = ("target", "sampler", "task", "scale")
"""The groups whose option is a setting of its own, under the group's name."""

COMPILE = "compile"
"""Whether steps are compiled, or would be where ``auto`` failed: then it is written with a run, as true."""

METRIC, TUNING = "metric", "tuning"
"""Groups whose keys are settings: the options of the metrics, and how much a pilot may do."""

DEVICE, AUTO = "device", "auto"
"""The type of the device is a part of a run; ``auto`` says that the machine decided it."""

PLAIN = ("model", DEVICE, "dtype", "streams", "threads", COMPILE)
"""Keys at the top of a configuration that are settings."""

CODE = "code"
"""Where the written configuration of a run has digests of the user's own code, by group."""

CLASS = "_target_"
"""The key of the dotted path of a class, a setting where it is the user's own; options tell ours."""

EXCHANGED = ("kernel", "sampler")
"""Nodes inside a group whose class a user may exchange for another of ours: a setting by its name."""

CONTENT = "content"
"""Where the written configuration of a run has digests of the files of its target, by their keys."""

BY_NAME = (f"target.{FILE}", f"target.{TEXT}")
"""Settings that are the name of a file where its digest is a setting, too."""

UNKNOWN_DATA = "data"
"""Its key there for files of a data set that its name does not tell; runs without it are on known files."""

LATER: Mapping[str, Mapping[str, Any]] = {
    "sample": {"task.keep": 0, "task.series": 0},
    "autoencode": {"task.protocol": "described", "task.test": "binary", "task.autoencoder.code": None},
}
"""Keys that runs of earlier versions have not, by task, with the value that means what such runs did.

It is no part of an id (`without_values`), and a setting of those runs as well.
"""

UNLISTED = LATER["sample"]
"""Those that change no chain: they are not listed at this value, but a condition on runs may name it."""

EFFORT = f"{TUNING}.effort"
"""How much a pilot may do."""

UNSET = {"task.dataset": "the model's own", EFFORT: "unknown"}
"""What it means that a setting of this name is null, where a table would show that."""

HOTTEST, WHOLE_LADDER = "hottest", 0
"""A key of a tempered sampler, and its value where the written configuration of a run has none."""

Settings = dict[str, Any]
"""Dotted key to a number, a text, a truth value or None; a list is written as text, 1.0 as 1."""

WHOLE = 2**53
"""From here on floats are written with an exponent, and are no whole numbers that a person wrote."""


def flat_settings(config: Mapping[str, Any]) -> Settings:
    """The settings in the plain `config` of a run: ``{"sampler": "dmala", "sampler.step_size": 0.3, ...}``.

    What a scale offers is left out: the task's settings say what of it was used. The options of metrics are
    settings, as ``metric.time_to_target.gap``; which metrics there are is none. So are a class of the user's
    own, as ``sampler._target_``, the digest of a group with code of their own, as ``sampler.code``, that of a
    file of the target, as ``target.file.content``, that of the weights of a saved model, as
    ``target.model.content``, and those of files of a data set that are not known, as ``target.data.content``.
    A file or a text of the target that has one is its name; where the data lie is no setting, nor is what a
    random instance does not read.
    """
    found: Settings = {}
    contents = config.get(CONTENT) or {}
    for group in CHOSEN:
        node = config.get(group)
        if isinstance(node, Mapping):
            found[group] = node.get("name") or str(node.get(CLASS, "")).rsplit(".", 1)[-1]
            if group != "scale":
                found |= _leaves(_of_target(node, contents) if group == "target" else node, group)
            if "ladder" in node:
                found.setdefault(f"{group}.{HOTTEST}", WHOLE_LADDER)
    for key, value in LATER.get(str(found.get("task")), {}).items():
        found.setdefault(key, value)
    for name, node in (config.get(METRIC) or {}).items():
        found |= _leaves(node, f"{METRIC}.{name}") if isinstance(node, Mapping) else {}
    found |= _leaves(config.get(TUNING) or {}, TUNING)
    for key in (key for key, value in UNLISTED.items() if found.get(key) == value):
        del found[key]
    found |= {f"{group}.{CODE}": digest for group, digest in (config.get(CODE) or {}).items()}
    own = ((name if "." in name else f"target.{name}", digest) for name, digest in contents.items())
    found |= {f"{key}.{CONTENT}": digest for key, digest in own}
    return found | {COMPILE: False} | {key: config[key] for key in PLAIN if key in config}


def absence_tells(key: str) -> bool:
    """Whether runs without the setting `key` are others than those with it, where their options are the same.

    Such are a digest, a key that an earlier version had not, and one of a node that has another class. Which
    metrics a run has, what it keeps of its chains, and the effort where nothing is tuned are no difference.
    """
    return key not in UNLISTED and "." in key and key.split(".", 1)[0] not in (METRIC, TUNING)


def without_values(
    node: Mapping[str, Any], values: Mapping[str, Any], prefix: str = "task"
) -> dict[str, Any]:
    """The `node` at `prefix` without the keys that have the value of their dotted key in `values`."""
    kept: dict[str, Any] = {}
    for name, value in node.items():
        key = f"{prefix}.{name}"
        if isinstance(value, Mapping):
            kept[name] = without_values(value, values, key)
        elif key not in values or value != values[key]:
            kept[name] = value
    return kept


def value_shown(settings: Mapping[str, Any], key: str) -> Any:
    """What the setting `key` is in a table; nothing where there is none."""
    value = settings.get(key, "")
    return UNSET.get(key) if value is None else value


def _of_target(node: Mapping[str, Any], contents: Mapping[str, Any]) -> dict[str, Any]:
    return without_places(as_read(dict(node)), contents)


def unlisted_settings(settings: Settings) -> Settings:
    """Those of `UNLISTED` that a run has, whose `flat_settings` do not list them."""
    missing = {key: value for key, value in UNLISTED.items() if key not in settings}
    return missing if settings.get("task") == "sample" else {}


def _leaves(node: Mapping[str, Any], prefix: str) -> Settings:
    leaves: Settings = {}
    for name, value in node.items():
        if isinstance(value, Mapping):
            leaves |= _leaves(value, f"{prefix}.{name}")
        elif name == CLASS and str(value).startswith(PROJECT):
            if "." in prefix and prefix.endswith(EXCHANGED):
                leaves[f"{prefix}.{name}"] = _class_name(value)
        elif name != "name":
            leaves[f"{prefix}.{name}"] = as_setting(value)
    return leaves


def _class_name(path: Any) -> str:
    """That of a class of ours, which may move without another id."""
    return str(path).rsplit(".", 1)[-1]


def as_setting(value: Any) -> Any:
    """`value` as a setting: the same for values with which a run has the same id, as 1.0 and 1 are."""
    return str(_whole(value)) if isinstance(value, list | tuple) else _whole(value)


def as_named(wanted: Any, key: str, settings: Mapping[str, Any]) -> Any:
    """`wanted` as `settings` have `key`: a file or a class of ours by its name, where a path was written."""
    if key.endswith(f".{CLASS}") and str(wanted).startswith(PROJECT):
        return _class_name(wanted)
    by_name = key in BY_NAME and f"{key}.{CONTENT}" in settings and isinstance(wanted, str)
    return file_name(wanted) if by_name else wanted


def _whole(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return math.nan  # one object: two NaN that were read are two values
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE else value


def changed_settings(config: Mapping[str, Any], hydra: Sequence[str] = ()) -> Settings:
    """Those of `flat_settings` that differ from the defaults.

    The default of a group is that of ``python -m runner``, the default of a key that of the chosen options. A
    class of the user's own has no defaults: all its keys are listed.

    Args:
        hydra: the overrides of Hydra that say where else configurations are.
    """
    own, bare = flat_settings(config), _option_names()
    chosen = tuple(f"{group}={own[group]}" for group in CHOSEN if own.get(group) not in (None, bare[group]))
    measured = (name for name in config.get(METRIC) or {} if name in options(METRIC, tuple(hydra)))
    same = _defaults((*chosen, f"{METRIC}=[{','.join(measured)}]"), tuple(hydra)) | bare
    return {key: value for key, value in own.items() if key not in same or same[key] != value}


@functools.cache
def _option_names() -> Settings:
    """The options that are in force where none is named."""
    content = plain_yaml((Path(conf.__path__[0]) / f"{CONFIG}.yaml").read_bytes())
    named = {
        group: name for each in content["defaults"] if isinstance(each, dict) for group, name in each.items()
    }
    return {group: named[group] for group in CHOSEN}


@until_edited
def _defaults(chosen: tuple[str, ...], hydra: tuple[str, ...]) -> Settings:
    """The settings under the choices `chosen`; a sampler that is no option is one under a tempering."""
    lines: list[str] = []
    unknown: set[str] = set()
    for line in chosen:
        group, name = line.split("=", 1)
        if group == METRIC:
            lines.append(line)
            continue
        found = [line] if name in options(group, hydra) else untempered(name, hydra) * (group == "sampler")
        lines += found
        unknown |= set() if found else {group}
    try:
        config = folded(OmegaConf.create(choice((*hydra, *lines))))
        content = OmegaConf.to_container(_resolvable(config), resolve=True)
    except (OmegaConfBaseException, UserError):
        return {}
    assert isinstance(content, dict)
    settings = flat_settings({str(key): value for key, value in content.items()})
    return {key: value for key, value in settings.items() if key.split(".", 1)[0] not in unknown}


def untempered(name: str, hydra: tuple[str, ...]) -> list[str]:
    """The choices behind the folded sampler `name`: ``pt_gibbs`` is Gibbs under parallel tempering."""
    for tempering in options(GROUP, hydra):
        prefix = choice((*hydra, f"{GROUP}={tempering}"))[GROUP].get(PREFIX)
        if prefix and name.startswith(prefix) and name.removeprefix(prefix) in options("sampler", hydra):
            return [f"sampler={name.removeprefix(prefix)}", f"{GROUP}={tempering}"]
    return []


def _resolvable(config: DictConfig) -> DictConfig:
    """The part of `config` that settings are in."""
    return OmegaConf.masked_copy(
        config, [key for key in (*CHOSEN, METRIC, TUNING, *PLAIN, "data") if key in config]
    )
