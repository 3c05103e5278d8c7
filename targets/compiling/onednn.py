"""Matrix products by oneDNN, on CPUs that are not from Intel.

On CPUs of AMD it takes between four and nine tenths of the time of MKL; on one of Intel, 1.1 times it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from targets.compiling.tracing import is_traced

SMALLEST = 2**20
"""Multiplications below which MKL is as fast."""


def linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """states weight' + bias, ``(*batch, m)``: `torch.nn.functional.linear`, by oneDNN where that is faster.

    Args:
        states, weight, bias: ``(*batch, k)``, ``(m, k)`` and ``(m,)``.
    """
    if is_traced() or not serves(states.numel() * weight.shape[0], states, weight, bias):
        return torch.nn.functional.linear(states, weight, bias)
    rows = states.reshape(-1, states.shape[-1])
    return product(rows, weight.T, bias).view(*states.shape[:-1], weight.shape[0])


def product(a: Tensor, b: Tensor, bias: Tensor | None = None, *, function: str = "none") -> Tensor:
    """function(a b + bias), by oneDNN.

    Args:
        a, b, bias: ``(n, k)``, ``(k, m)`` and ``(m,)`` or ``(1,)``, in float32 on the CPU.
        function: of every entry of the result, ``none`` or ``sigmoid``.
    """
    # Where b has gaps between its rows, as a part of a matrix has, oneDNN takes a thousand times as long.
    right = b.T if b.T.is_contiguous() else b.contiguous().T
    # Of a bias it reads as many numbers as lie one after the other, whatever its strides.
    added = bias if bias is None else bias.expand(b.shape[1]).contiguous()
    found: Tensor = torch.ops.mkldnn._linear_pointwise(a, right, added, function, [], "")
    return found


def serves(multiplications: int, *tensors: Tensor) -> bool:
    """Whether `product` is faster for so many multiplications of `tensors`, and can be called with them."""
    if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return False
    faster = all(is_faster(each, multiplications) for each in tensors)
    return faster and not _are_transformed(tensors)


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


def _are_transformed(tensors: Sequence[Tensor]) -> bool:
    """Whether a derivative is taken of what is computed from `tensors`, or torch transforms it otherwise.

    oneDNN's operation has no derivatives: a tangent would be dropped without a word.
    """
    if torch.is_grad_enabled() and any(each.requires_grad for each in tensors):
        return True
    if any(unpack_dual(each).tangent is not None for each in tensors):  # type: ignore[no-untyped-call]
        return True
    try:
        return any(each.data_ptr() == 0 for each in tensors)
    except RuntimeError:  # inside of vmap and its like a tensor has no memory of its own
        return True
