"""From a sampler's configuration node to a kernel of numbers, or to what tunes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.config.construct import construct
from runner.execution.errors import UserError
from samplers.kernel import Kernel
from samplers.tuning.configured import builder_of
from samplers.tuning.tunable import Tunable


def construct_sampler(described: Mapping[str, Any], key: str) -> Kernel | Tunable:
    """The sampler that `described`, the node at `key`, describes.

    Raises:
        UserError: if it cannot be built or is no `Kernel`.
    """
    sampler = construct(described, key, via=builder_of)
    if not isinstance(sampler, (Kernel, Tunable)):
        raise UserError(f"{key}._target_={described['_target_']} is no samplers.kernel.Kernel.")
    return sampler
