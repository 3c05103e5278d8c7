"""Truth values that a compiled step returns, on the CPU by way of numbers.

TorchInductor writes the truth values of a comparison one by one, which takes as long as twenty exponentials.
The same values as bytes are written sixteen at a time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

aten: Any = torch.ops.aten
COMPARISONS = {
    getattr(getattr(aten, name), form)
    for name in ("lt", "le", "gt", "ge", "eq", "ne")
    for form in ("Tensor", "Scalar")
}
JOINED = {aten.stack.default, aten.cat.default}

BYTES_ARE_READ = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)
"""Whether TorchInductor can read bytes as truth values; that of torch 2.11 cannot."""


def with_fast_truth_values(graph: fx.GraphModule) -> fx.GraphModule:
    """`graph` with comparisons that are results, or parts of one, made on the CPU as bytes if it can be."""
    if not BYTES_ARE_READ:
        return graph
    (output,) = graph.graph.find_nodes(op="output")
    results: Any = output.args[0]
    with graph.graph.inserting_before(output):
        output.args = ([_fast(graph.graph, each) if _served(each) else each for each in results],)
    graph.recompile()
    return graph


def _served(node: Any) -> bool:
    """Whether it is a comparison on the CPU, or several of them joined."""
    if not isinstance(node, fx.Node) or node.target not in COMPARISONS | JOINED:
        return False
    if node.target in JOINED:
        parts: Any = node.args[0]
        return all(map(_served, parts))
    return bool(node.meta["val"].device.type == "cpu")


def _fast(graph: fx.Graph, node: fx.Node) -> fx.Node:
    return graph.call_function(aten.view.dtype, (_bytes(graph, node), torch.bool))


def _bytes(graph: fx.Graph, node: fx.Node) -> fx.Node:
    """The truth values of `node` as 0 and 1 of eight bits."""
    if node.target in JOINED:
        joined: Any = node.target
        parts: Any = node.args[0]
        return graph.call_function(joined, ([_bytes(graph, each) for each in parts], *node.args[1:]))
    # Straight to bytes they would be converted one by one.
    numbers = graph.call_function(aten._to_copy.default, (node,), {"dtype": torch.float32})
    return graph.call_function(aten._to_copy.default, (numbers,), {"dtype": torch.uint8})
