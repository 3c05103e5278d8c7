"""Which device and precision a run is computed in."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.execution.errors import UserError, not_allowed

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "float64")


def device_type(name: Any) -> str:
    """``cpu`` or ``cuda``; ``auto`` takes CUDA where PyTorch sees it.

    It is what the identity of a run says: ``cuda`` is that also where results are read and no GPU is there.

    Raises:
        UserError: if `name` is none of these.
    """
    if name not in DEVICES:
        raise not_allowed("device must be one of auto, cpu, cuda", name, DEVICES)
    if name in ("cpu", "cuda"):
        return str(name)
    if "torch" not in sys.modules and _has_no_driver():
        return "cpu"
    return "cuda" if _has_cuda() else "cpu"


def present_device(name: Any) -> str:
    """`device_type` of a device that this process can compute on.

    Raises:
        UserError: as `device_type`, and if CUDA is asked for and not there.
    """
    found = device_type(name)
    if lacks(found):
        raise UserError(
            "device=cuda was given, but PyTorch sees no CUDA device here; use device=cpu or auto."
        )
    return found


def lacks(device: str) -> bool:
    """Whether `device` is ``cuda`` and PyTorch sees none here."""
    return device == "cuda" and not _has_cuda()


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def _has_no_driver() -> bool:
    """Whether PyTorch cannot see a GPU here, since the driver is missing; that is found without torch."""
    if sys.platform != "linux" or Path("/dev/kfd").exists():
        return False
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return True
    return False


def floating_point(name: Any) -> torch.dtype:
    """The floating-point type called `name`.

    Raises:
        UserError: if it is neither float32 nor float64.
    """
    if name not in DTYPES:
        raise not_allowed("dtype must be float32 or float64", name, DTYPES)
    import torch

    found: torch.dtype = getattr(torch, name)
    return found
