"""The kernels of the conformance table and of networks, on a device."""

from __future__ import annotations

import copy

import torch

from samplers import DMALA, Kernel
from targets import Target
from targets.models.binary_bnn import BinaryBNN
from tests.samplers.test_conformance import EVERY, PREPARED
from tests.support.targets.small_tables import made_up

CUDA = torch.device("cuda")

NETWORKS: dict[str, tuple[Kernel, Target]] = {"dmala-networks": (DMALA(0.1), BinaryBNN(made_up(), 3))}


def placed(name: str, device: torch.device | str, dtype: torch.dtype) -> tuple[Kernel, Target]:
    """A copy of the kernel and its target on `device`; tables are made there."""
    kernel, target = NETWORKS.get(name) or EVERY[name][:2]
    target = copy.deepcopy(target).to(device=device, dtype=dtype)
    if name in PREPARED:
        return PREPARED[name][0].to(target.like()).prepared(target, one(target)), target
    return copy.deepcopy(kernel).to(target.like()), target


def one(target: Target) -> torch.Tensor:
    return torch.ones((), dtype=target.like().dtype, device=target.like().device)
