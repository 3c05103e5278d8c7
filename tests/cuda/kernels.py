"""The kernels of the conformance table, on a device."""

from __future__ import annotations

import copy

import torch

from samplers import Kernel
from targets import Target
from tests.samplers.test_conformance import EVERY, PREPARED

CUDA = torch.device("cuda")


def placed(name: str, device: torch.device | str, dtype: torch.dtype) -> tuple[Kernel, Target]:
    """A copy of the kernel and its target on `device`; tables are made there."""
    kernel, target, _ = EVERY[name]
    target = copy.deepcopy(target).to(device=device, dtype=dtype)
    if name in PREPARED:
        return PREPARED[name][0].to(target.like()).prepared(target, one(target)), target
    return copy.deepcopy(kernel).to(target.like()), target


def one(target: Target) -> torch.Tensor:
    return torch.ones((), dtype=target.like().dtype, device=target.like().device)
