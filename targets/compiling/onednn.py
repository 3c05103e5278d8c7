"""Matrix products of compiled steps and of annealing by oneDNN, on CPUs that are not from Intel.

On CPUs of AMD it takes between four and nine tenths of the time of MKL; on one of Intel, 1.1 times it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from torch import Tensor

SMALLEST = 2**20
"""Multiplications below which MKL is as fast."""


def product(a: Tensor, b: Tensor, bias: Tensor | None = None, *, function: str = "none") -> Tensor:
    """function(a b + bias), by oneDNN.

    Args:
        a, b, bias: ``(n, k)``, ``(k, m)`` and ``(m,)``, in float32 on the CPU.
        function: of every entry of the result, ``none`` or ``sigmoid``.
    """
    # Where b has gaps between its rows, as a part of a matrix has, oneDNN takes a thousand times as long.
    right = b.T if b.T.is_contiguous() else b.contiguous().T
    found: Tensor = torch.ops.mkldnn._linear_pointwise(a, right, bias, function, [], "")
    return found


def is_faster(like: Tensor, multiplications: int) -> bool:
    """Whether `product` is there, and faster for so many multiplications of numbers like those of `like`."""
    if like.dtype != torch.float32 or like.device.type != "cpu" or multiplications < SMALLEST:
        return False
    return not has_intel_cpu() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def has_intel_cpu() -> bool:
    """Whether this computer's CPU is one of Intel; False where the system does not say."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
