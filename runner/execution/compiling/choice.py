"""Whether the steps of a run are compiled; imports torch for a GPU alone."""

from __future__ import annotations

import importlib.util
import os
import shutil
from typing import Any

from runner.execution.errors import UserError

COMPILED_STEPS = "counter 2"
"""Where their random numbers come from (`samplers.compiling.counter_streams`), and a number that is raised
when their draws become others; in the identity of a run."""

AUTO_STEPS = 20_000
"""Steps from which ``compile=auto`` compiles, which takes 5 to 11 s; most steps gain 0.5 ms or more."""


def compile_choice(given: Any) -> bool | str:
    """``true``, ``false`` or ``auto``.

    Raises:
        UserError: for another value.
    """
    if not isinstance(given, bool) and given != "auto":
        raise UserError(f"compile must be true, false or auto, {given!r} was given.")
    return given if isinstance(given, bool) else str(given)


def compiles(given: Any, device: str, steps: int) -> bool | str:
    """Whether the steps of a run of so many are compiled: the choice, or False where ``auto`` does without.

    ``auto`` asks for many steps, a compiler and the CPU: on a GPU compiled seeds are computed one after the
    other, and it has room for all of them at once.

    Args:
        device: type of the device, ``cpu`` or ``cuda``.

    Raises:
        UserError: as `compile_choice`.
    """
    choice = compile_choice(given)
    if choice == "auto" and (device != "cpu" or steps < AUTO_STEPS or not has_compiler()):
        return False
    return choice


def require_compiler(given: Any, device: str) -> None:
    """Refuses ``compile=true`` where what compiles steps for `device` is missing; results can be read there.

    Raises:
        UserError: naming it.
    """
    if given is not True:
        return
    if device == "cuda" and (lacking := _lacking_on_cuda()):
        raise UserError(f"compile=true on a CUDA device needs {lacking}; use compile=false or auto.")
    if device == "cpu" and not has_compiler():
        raise UserError(
            f"compile=true needs a C++ compiler, and {_compiler()!r} is not there; install it, name another "
            "one in the environment variable CXX, or use compile=auto."
        )


def compiled_identity(compiled: bool | str) -> dict[str, str]:
    """What compiled steps add to the identity of a run or a model: nothing where there are none."""
    return {"compile": COMPILED_STEPS} if compiled else {}


def has_compiler() -> bool:
    """Whether the C++ compiler that `torch.compile` uses is there."""
    return shutil.which(_compiler()) is not None


def _compiler() -> str:
    return os.environ.get("CXX") or "g++"


def _lacking_on_cuda() -> str | None:
    """What `torch.compile` lacks for the kernels of a CUDA device; None where it has all."""
    if importlib.util.find_spec("triton") is None:
        return "Triton, which is not installed"
    given = os.environ.get("CC")
    if not any(shutil.which(name) for name in ([given] if given else ["gcc", "clang"])):
        return f"a C compiler, and {given or 'gcc'!r} is not there"
    import torch

    if torch.cuda.is_available() and torch.cuda.get_device_capability() < (7, 0):
        major, minor = torch.cuda.get_device_capability()
        return f"one of compute capability 7.0 at least, for Triton; this one has {major}.{minor}"
    return None
