"""The settings of a run as it was computed: what its configuration says, and no key that changed nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.catalogue.source import source_of
from runner.config.kinds import PROJECT
from runner.config.run_settings import AUTO, DEVICE, EFFORT, Settings, flat_settings
from runner.execution.devices import device_type
from runner.execution.errors import UserError
from runner.models.identity import NOT_LEARNED, TUNED, training_sampler

UNREAD = tuple(f"target.{key}." for key in NOT_LEARNED)
"""How settings of a target begin that `task=learn` does not read, with a dot behind."""


def settings_computed(config: Mapping[str, Any], manifest: Mapping[str, Any] | None) -> Settings:
    """`flat_settings` of a run with the device that it was computed on, where its `config` says ``auto``.

    The effort of tuning is one where a pilot may have found a number, None where a version without the key
    ran it. What `task=learn` does not read of its target is none, though earlier versions wrote it.

    Args:
        manifest: of the run, which names the device; None where there is none, as of a run that failed before
            it began: its device is then what ``auto`` is here.
    """
    target = config.get("target") or {}
    found = flat_settings(config)
    if found.get("task") == "learn":
        target = {key: value for key, value in target.items() if key not in NOT_LEARNED}
        found = {key: value for key, value in found.items() if not f"{key}.".startswith(UNREAD)}
    if any(map(may_be_tuned, (config.get("sampler"), training_sampler(target)))):
        found.setdefault(EFFORT, None)
    else:
        found.pop(EFFORT, None)
    if found.get(DEVICE) == AUTO:
        device = (manifest or {}).get(DEVICE)
        known = device.get("type") if isinstance(device, Mapping) else None
        found[DEVICE] = known or device_type(AUTO)
    return found


def may_be_tuned(sampler: Any) -> bool:
    """Whether a pilot may have found a number of the sampler that a node describes.

    Wherever `leaves_open` says so, but of classes that may be gone, and without an import of torch: a class
    that is not ours may have been tuned where the node names no step size.
    """
    if not isinstance(sampler, Mapping):
        return False
    if any(isinstance(sampler.get(name), str) for name in TUNED):
        return True
    return sampler.get("step_size") is None and _names_too_little(sampler)


def _names_too_little(node: Mapping[str, Any]) -> bool:
    """Whether a class in `node` takes what a pilot finds, and no number or null stands there for it."""
    if any(_names_too_little(inside) for inside in node.values() if isinstance(inside, Mapping)):
        return True
    if any(isinstance(node.get(name), str) for name in TUNED):
        return True
    path = node.get("_target_")
    if path is None:
        return False
    if not (isinstance(path, str) and path.startswith(PROJECT)):
        return True
    try:
        return not source_of(path).own_arguments.intersection(TUNED) <= node.keys()
    except UserError:  # it has moved since
        return True
