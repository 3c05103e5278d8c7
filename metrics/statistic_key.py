"""The key of a shared statistic: what tells it from others in a run, and finds it again in a checkpoint."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import reduce
from numbers import Number
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch import Tensor

from targets.checks import described

PLAIN = (Number, str, torch.dtype, torch.device, type(None))
"""Values whose `repr` says all of them, the same in every process."""


def statistic_key(cls: type, arguments: Mapping[str, Any]) -> str:
    """The key of the statistic `cls` with these arguments of its constructor.

    Equal for equal arguments alone, and the same in the process that goes on from a checkpoint.

    Raises:
        ValueError: naming the class and the argument, if one is neither a number, text, a truth value, None,
            a tensor, a class or function that can be imported, nor a list or tuple of such values.
    """
    try:
        told = ", ".join(f"{name}={_said(name, value)}" for name, value in sorted(arguments.items()))
    except ValueError as error:
        raise ValueError(f"the statistic {cls.__qualname__} {error}") from None
    return f"{cls.__module__}.{cls.__qualname__}({told})"


def _said(name: str, value: Any) -> str:
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(_said(name, each) for each in value)})"
    if isinstance(value, Tensor) and value.layout is torch.strided:
        return f"tensor({tuple(value.shape)}, {value.dtype}, {_digest(value)})"
    if isinstance(value, type | FunctionType | BuiltinFunctionType) and _is_importable(value):
        return f"{value.__module__}.{value.__qualname__}"
    raise ValueError(
        f"must have numbers, text, truth values, None, tensors, functions of a module, or lists of them as "
        f"its arguments, {name} is {described(value)}"
    )


def _digest(value: Tensor) -> str:
    # Parts of a larger tensor, conjugates and negatives become plain bytes.
    plain = value.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    return hashlib.sha256(plain.view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


def _is_importable(value: Any) -> bool:
    """Whether its dotted path leads to it; that of a lambda or of an inner function is of many."""
    try:
        return reduce(getattr, value.__qualname__.split("."), sys.modules[value.__module__]) is value
    except (AttributeError, KeyError):
        return False
