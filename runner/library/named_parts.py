"""Targets and samplers by their names: what ``conf/`` says of them, read without Hydra.

Hydra has one configuration for a process, and a notebook or a script may have its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import conf
from metrics.library.thread_count import thread_count
from metrics.library.torch_modes import ordinary_modes
from runner.config.tempering import without_leftovers
from runner.execution.errors import UserError, unknown
from runner.files.plain_yaml import plain_yaml
from runner.problem.build import build_kernel, built_target
from samplers.kernel import Kernel
from samplers.tuning.tunable import Tunable
from targets.checks import described as described_value
from targets.target import Target

HERE, OWN = "_here_", "_self_"

THREADS = 1
"""CPU threads of what is built by its name, as in ``conf/config.yaml``."""


def named_target(name: str, **settings: Any) -> Target:
    """The target called `name` in ``conf/target``, on the CPU in float32, with these settings of its own.

    ``runner.named_target("mog", components=4)``; a setting may be an array or a tensor.

    Raises:
        UserError: for an unknown name or setting, a value of another kind, or a target that is trained first.
    """
    described = _with(described_option("target", name), _plain(settings))
    if "training" in described:
        raise UserError(f"target={name} is trained before it is sampled from, which runner.run does.")
    with thread_count(), ordinary_modes():  # a run sets its own number, for a process of its own
        return built_target(_configuration(target=described))


def named_sampler(name: str, steps: int = 1000, **settings: Any) -> Kernel | Tunable:
    """The sampler called `name` in ``conf/sampler``, with these settings of its own.

    ``runner.named_sampler("pt_dmala", ladder=[1.0, 0.3, 0.1], step_size=25.0)``; a setting may be an array
    or a tensor. A group such as ``swap={"rule": "history"}`` has the keys that it does not name from the
    file, as on the command line.

    Args:
        steps: of the run, which decide the schedule of a cyclical sampler.

    Returns:
        A kernel, or a `Tunable` where settings are ``auto``.

    Raises:
        UserError: for an unknown name or setting, or a value that is refused.
    """
    described = without_leftovers(_with(described_option("sampler", name), _plain(settings)))
    return build_kernel(_configuration(sampler=described, task={"steps": steps}))


def _with(described: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """`described` with `settings` in their places; a group without a class of its own is that of the file."""

    def changed(old: Any, new: Any) -> Any:
        groups = isinstance(old, Mapping) and isinstance(new, Mapping) and "_target_" not in new
        return _with(old, new) if groups else new

    return {**described, **{name: changed(described.get(name), value) for name, value in settings.items()}}


def _plain(value: Any) -> Any:
    """`value` with arrays, tensors and their numbers as those of Python: a configuration has no others."""
    if OmegaConf.is_config(value):
        value = OmegaConf.to_container(value, resolve=True)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if not (value is None or isinstance(value, str | int | float)):
        raise UserError(
            "A setting of a name must be a number, text, a list or a group, "
            f"{described_value(value)} was given; the class itself takes other values."
        )
    return value


def _configuration(**groups: Any) -> DictConfig:
    """As much of a run's configuration as its parts read."""
    data = {"root": os.environ.get("DATA_ROOT"), "verify": True}
    return OmegaConf.create({**groups, "data": data, "device": "cpu", "dtype": "float32", "threads": THREADS})


def described_option(group: str, name: str) -> dict[str, Any]:
    """What ``conf/<group>/<name>.yaml`` says, the files in its list of defaults included.

    Raises:
        UserError: if there is none.
    """
    folder = Path(conf.__path__[0]) / group
    options = [path.stem for path in folder.glob("*.yaml")]
    if name not in options:
        raise unknown(group, name, options)
    own = plain_yaml((folder / f"{name}.yaml").read_bytes())
    found = OmegaConf.create()
    for entry in own.pop("defaults", [OWN]):
        if entry == OWN:
            found.merge_with(own)
            continue
        where, _, package = entry.partition("@")
        place = where.strip("/").rsplit("/", 1) if "/" in where else (group, where)
        other = described_option(*place)
        found.merge_with(other if package in ("", HERE) else {package: other})
    content = OmegaConf.to_container(found, resolve=False)
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items()}
