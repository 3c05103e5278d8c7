"""Which device and precision a run is computed in."""

from __future__ import annotations

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
    if name == "cpu":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if name == "cuda":
        raise UserError(
            "device=cuda was given, but PyTorch sees no CUDA device here; use device=cpu or auto."
        )
    return "cpu"


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
