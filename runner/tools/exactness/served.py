"""Telling a sampler that does not serve a target from one that crashes on it.

A sampler refuses a target by a ValueError from `check`, and only there; one that cannot be enumerated is
known by a `NotEnumerableError`. Any other error, in whatever it computes, is a crash.
"""

from __future__ import annotations

import os

import torch

from runner.execution.errors import one_sentence
from runner.tools.exactness.not_enumerable import why_not_enumerable
from samplers.kernel import Kernel, NotEnumerableError
from samplers.tuning.tunable import Tunable, fixed
from targets.target import Target

LONGEST = 200
"""Letters of an error's message that are shown."""


def kernel_for(sampler: Kernel | Tunable, target: Target) -> Kernel:
    """The kernel with what is still open tuned on the target by its own pilot.

    Raises:
        NotEnumerableError: if it cannot be enumerated, or refuses the target.
    """
    reason = why_not_enumerable(fixed(sampler))
    if reason is not None:
        raise NotEnumerableError(reason)
    try:
        sampler.check(target)
    except ValueError as error:
        raise NotEnumerableError(one_sentence(error)) from error
    if isinstance(sampler, Kernel):
        return sampler
    return sampler.tuned(target, torch.Generator().manual_seed(0))


def crash(error: Exception) -> str:
    """The type of an error and the first line of its message; raises it with HYDRA_FULL_ERROR=1."""
    if os.environ.get("HYDRA_FULL_ERROR") == "1":
        raise error
    lines = str(error).strip().splitlines()
    said = ": ".join([type(error).__name__, *lines[:1]])
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
