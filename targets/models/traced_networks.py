"""The passes of `targets.models.network_passes` as operations that a compiled step calls.

Traced, their chunks would be hundreds of loops, which the compiler needs a minute for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.models.network_passes import error_and_grad, log_odds


def traced_log_odds(theta: Tensor, n_hidden: int, inputs: Tensor) -> Tensor:
    """`log_odds`, one operation of a trace."""
    found: Tensor = torch.ops.rungwise.network_log_odds.default(theta, n_hidden, inputs)
    return found


def traced_error_and_grad(
    theta: Tensor, n_hidden: int, rows: tuple[Tensor, Tensor, Tensor], scale: float
) -> tuple[Tensor, Tensor]:
    """`error_and_grad`, one operation of a trace."""
    error, grad = torch.ops.rungwise.network_error_and_grad.default(theta, n_hidden, *rows, scale)
    return error, grad


def _run_log_odds(theta: Tensor, n_hidden: int, inputs: Tensor) -> Tensor:
    return log_odds(theta, n_hidden, inputs, inputs.new_empty(0))


def _run_error_and_grad(
    theta: Tensor, n_hidden: int, inputs: Tensor, outcome: Tensor, share: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    rows = inputs, outcome, share
    return error_and_grad(theta, n_hidden, rows, scale, inputs.new_empty(0))


def _form_of_log_odds(theta: Tensor, n_hidden: int, inputs: Tensor) -> Tensor:
    return theta.new_empty(len(theta), inputs.shape[1])


def _form_of_error_and_grad(
    theta: Tensor, n_hidden: int, inputs: Tensor, outcome: Tensor, share: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    return theta.new_empty(len(theta)), theta.new_empty(theta.shape)


# Of torch's ways to define an operation the one with the least time for a call; none of it is typed.
_library: Any = torch.library.Library("rungwise", "FRAGMENT")  # type: ignore[no-untyped-call]
_library.define("network_log_odds(Tensor theta, int n_hidden, Tensor inputs) -> Tensor")
_library.define(
    "network_error_and_grad(Tensor theta, int n_hidden, Tensor inputs, Tensor outcome, Tensor share, "
    "float scale) -> (Tensor, Tensor)"
)
for _name, _run, _form in (
    ("network_log_odds", _run_log_odds, _form_of_log_odds),
    ("network_error_and_grad", _run_error_and_grad, _form_of_error_and_grad),
):
    for _device in ("CPU", "CUDA"):
        _library.impl(_name, _run, _device)
    _library.impl(_name, _form, "Meta")
