"""The passes of `targets.models.network_passes` as operations that a compiled step calls.

Traced, their chunks would be hundreds of loops of their own, which the compiler needs a minute for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.models.network_passes import Networks, Sums, error_sums, log_odds


def traced_log_odds(networks: Networks, inputs: Tensor) -> Tensor:
    """`log_odds`, one operation of a trace."""
    found: Tensor = torch.ops.rungwise.network_log_odds.default(*networks, inputs)
    return found


def traced_sums(networks: Networks, inputs: Tensor, outcome: Tensor, share: Tensor) -> Sums:
    """`error_sums`, one operation of a trace."""
    return Sums(*torch.ops.rungwise.network_sums.default(*networks, inputs, outcome, share))


def _log_odds(doubled: Tensor, output: Tensor, bias: Tensor, inputs: Tensor) -> Tensor:
    return log_odds(Networks(doubled, output, bias), inputs, inputs.new_empty(0), fast=True)


def _sums(
    doubled: Tensor, output: Tensor, bias: Tensor, inputs: Tensor, outcome: Tensor, share: Tensor
) -> Sums:
    networks = Networks(doubled, output, bias)
    return error_sums(networks, inputs, outcome, share, inputs.new_empty(0), fast=True)


def _form_of_log_odds(doubled: Tensor, output: Tensor, bias: Tensor, inputs: Tensor) -> Tensor:
    return inputs.new_empty(len(bias), inputs.shape[1])


def _form_of_sums(
    doubled: Tensor, output: Tensor, bias: Tensor, inputs: Tensor, outcome: Tensor, share: Tensor
) -> tuple[Tensor, ...]:
    count, units = output.shape
    shapes = (count,), (count, len(inputs), units), (count, units), (count,)
    return tuple(inputs.new_empty(shape) for shape in shapes)


# As in `samplers.compiling.matrix_products`.
_library: Any = torch.library.Library("rungwise", "FRAGMENT")  # type: ignore[no-untyped-call]
_PARAMETERS = "Tensor doubled, Tensor output, Tensor bias, Tensor inputs"
_library.define(f"network_log_odds({_PARAMETERS}) -> Tensor")
_library.define(
    f"network_sums({_PARAMETERS}, Tensor outcome, Tensor share) -> (Tensor, Tensor, Tensor, Tensor)"
)
for _name, _does, _form in (
    ("network_log_odds", _log_odds, _form_of_log_odds),
    ("network_sums", _sums, _form_of_sums),
):
    for _device in ("CPU", "CUDA"):
        _library.impl(_name, _does, _device)
    _library.impl(_name, _form, "Meta")
