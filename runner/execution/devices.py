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

    Raises:
        UserError: if `name` is none of these, or CUDA is asked for and not there.
    """
    if name not in DEVICES:
        raise not_allowed("device must be one of auto, cpu, cuda", name, DEVICES)
    if name == "cpu" or (name == "auto" and "torch" not in sys.modules and _has_no_driver()):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if name == "cuda":
        raise UserError(
            "device=cuda was given, but PyTorch sees no CUDA device here; use device=cpu or auto."
        )
    return "cpu"


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
