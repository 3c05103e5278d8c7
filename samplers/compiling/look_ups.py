"""Look-ups of a compiled step in large tables, on the CPU an operation of their own.

A loop that looks up and computes waits for each entry that is in no cache, since the processor does not see
far enough ahead. A loop that only looks up has dozens of entries on their way at once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

LARGE = 2**20
"""Bytes of a table that no longer fits in the cache of a core."""

MANY = 2**12
"""Look-ups from which the operation of their own pays."""


def _looked_up(table: Tensor, places: Tensor) -> Tensor:
    return table.index_select(0, places)


def _form(table: Tensor, places: Tensor) -> Tensor:
    return table.new_empty(places.shape)


# As in `samplers.compiling.matrix_products`.
_library: Any = torch.library.Library("rungwise", "FRAGMENT")  # type: ignore[no-untyped-call]
_library.define("looked_up(Tensor table, Tensor places) -> Tensor")
_library.impl("looked_up", _looked_up, "CPU")
_library.impl("looked_up", _form, "Meta")


def with_own_look_ups(graph: fx.GraphModule) -> fx.GraphModule:
    """`graph` with its many look-ups in each large table of single numbers on the CPU on their own."""
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or node.target is not torch.ops.aten.index_select.default:
            continue
        given: Any = node.args
        table, axis, places = given
        form, number = table.meta["val"], places.meta["val"].numel()
        if form.device.type != "cpu" or form.dim() != 1 or axis != 0 or number < MANY:
            continue
        if form.numel() * form.element_size() < LARGE:
            continue
        node.target, node.args = torch.ops.rungwise.looked_up.default, (table, places)
    graph.recompile()
    return graph
