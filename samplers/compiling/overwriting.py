"""A step that writes the next state over the one that it takes, which a CUDA graph has in fixed places."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, fx


@torch.no_grad()
def overwriting(graph: fx.GraphModule, inputs: Sequence[Tensor], count: int) -> fx.GraphModule:
    """`graph` with its first `count` results written over its first `count` inputs; it returns the others.

    TorchInductor writes them where it computes them, so that no operation copies them.

    Args:
        inputs: for one call of `graph`, which shows what of its results lies in their memory.
    """
    shared = {each.untyped_storage().data_ptr() for each in inputs[:count]}
    in_an_input = [each.untyped_storage().data_ptr() in shared for each in graph(*inputs)]
    made, copies = fx.Graph(), dict[fx.Node, fx.Node]()
    results = made.graph_copy(graph.graph, copies)
    assert isinstance(results, list | tuple)
    places = [copies[node] for node in graph.graph.nodes if node.op == "placeholder"][:count]
    values = [
        # It would change with the input that it lies in.
        made.call_function(torch.ops.aten.clone.default, (each,)) if aside else each
        for each, aside in zip(results, in_an_input, strict=True)
    ]
    for place, value, result in zip(places, values[:count], results[:count], strict=True):
        if result is not place:
            made.call_function(torch.ops.aten.copy_.default, (place, value))
    made.output(values[count:])
    return fx.GraphModule(graph, made)
