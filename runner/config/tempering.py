"""The group `tempering` of a configuration, folded into the sampler that it tempers.

``sampler=dmala tempering=parallel`` becomes what ``sampler=pt_dmala`` is: a sampler named ``pt_dmala`` whose
``kernel`` is DMALA. The step size and the acceptance that the kernel has alone become those of its rungs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from runner.config.form import check_own_name
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError

GROUP = "tempering"

PREFIX = "prefix"
"""Key of a tempering: what it puts before the sampler's name. Only a folded sampler is without it."""

RUNGS: dict[str, Any] = {"step_size": None, "acceptance": 0.574}
"""Keys that a tempered sampler has in its kernel's place, with their values for a kernel that has none."""


KEYS = re.compile(r"(?<![\w.])sampler\.(kernel\.)?(\w+)")
"""A key of a folded sampler, or of the kernel in it."""


def folded(config: DictConfig) -> DictConfig:
    """`config`, changed in place, with its tempering in its sampler.

    Raises:
        UserError: if the sampler is tempered already.
    """
    parts = {key: OmegaConf.to_container(config[key], resolve=False) for key in (GROUP, "sampler")}
    tempering, sampler = parts[GROUP], parts["sampler"]
    if not isinstance(tempering, dict) or not isinstance(sampler, dict):
        return config
    if "_target_" in tempering:
        check_own_name(sampler, "sampler")
        sampler = _tempered(sampler, tempering)
    sampler = without_leftovers(sampler)
    if "ladder" in sampler and sampler.get("hottest") == 0:  # no part of the ids that runs had before it
        del sampler["hottest"]
    with open_dict(config):
        config[GROUP] = {"name": "none"}
        config["sampler"] = sampler
    return config


def without_leftovers(sampler: Mapping[Any, Any]) -> dict[str, Any]:
    """A tempered sampler without the keys of its kernel that stand at the sampler itself.

    They come with the kernel's own file, such as ``dmala.yaml`` in ``pt_dmala.yaml``.
    """
    kept = {str(key): value for key, value in sampler.items()}
    if PREFIX not in kept:
        return kept
    del kept[PREFIX]
    kernel = kept.get("kernel")
    if isinstance(kernel, Mapping):
        leftovers = ("name", *(RUNGS if "acceptance" in kernel else ()))
        kept["kernel"] = {key: value for key, value in kernel.items() if key not in leftovers}
    return kept


def _tempered(sampler: Mapping[Any, Any], tempering: Mapping[Any, Any]) -> dict[str, Any]:
    name = str(sampler.get("name") or str(sampler.get("_target_")).rsplit(".", 1)[-1])
    if "kernel" in sampler:
        raise UserError(
            f"{GROUP}={tempering.get('name')} needs a sampler at one temperature; "
            f"sampler={name} is tempered already."
        )
    wrapper = {str(key): value for key, value in tempering.items() if key != "name"}
    # An acceptance is what says that the step size can be tuned, and then each rung has its own.
    rungs = {key: sampler.get(key, default) for key, default in RUNGS.items() if "acceptance" in sampler}
    # Without a prefix a scheme of a user's own would have the name of the sampler without it.
    path = str(tempering["_target_"])
    prefix = tempering.get(PREFIX, "" if path.startswith(PROJECT) else f"{path.rsplit('.', 1)[-1]}_")
    return {"name": f"{prefix}{name}", **wrapper, **RUNGS, **rungs, "kernel": sampler}


def as_written(sentence: str, overrides: Sequence[str]) -> str:
    """`sentence` with the keys of a folded sampler under the names that the job's `overrides` have for them.

    ``tempering=parallel`` puts ``tempering.swap`` at ``sampler.swap`` and ``sampler.norm`` at
    ``sampler.kernel.norm``; whoever gave the group wrote the former.
    """
    given = [line.split("=", 1)[1] for line in overrides if line.startswith(f"{GROUP}=")]
    if not given or given[-1] == "none":
        return sentence

    def written(found: re.Match[str]) -> str:
        inside, name = found.groups()
        own = inside is not None or name in (*RUNGS, "kernel")
        return f"{'sampler' if own else GROUP}.{name}"

    return KEYS.sub(written, sentence)
