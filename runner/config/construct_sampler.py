"""From a sampler's configuration node to a kernel of numbers, or to what tunes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.config.construct import construct
from samplers.kernel import Kernel
from samplers.tuning.configured import builder_of
from samplers.tuning.tunable import Tunable


def construct_sampler(described: Mapping[str, Any], key: str) -> Kernel | Tunable:
    """The sampler that `described`, the node at `key`, describes.

    Raises:
        UserError: if it cannot be built or is no `Kernel`.
    """
    sampler: Kernel | Tunable = construct(described, key, (Kernel, Tunable), via=builder_of)
    return sampler
