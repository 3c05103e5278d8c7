"""Large matrix products of a compiled step on the CPU by the faster of two libraries, MKL and oneDNN."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from targets.compiling import onednn


def _form(a: Tensor, b: Tensor, bias: Tensor | None) -> Tensor:
    return a.new_empty(a.shape[0], b.shape[1])


# Of torch's ways to define an operation the one with the least time for a call; none of it is typed.
_library: Any = torch.library.Library("rungwise", "FRAGMENT")  # type: ignore[no-untyped-call]
_library.define("product(Tensor a, Tensor b, Tensor? bias) -> Tensor")
_library.impl("product", onednn.product, "CPU")
_library.impl("product", _form, "Meta")


def with_fast_products(graph: fx.GraphModule) -> fx.GraphModule:
    """`graph` with its large matrix products in float32 on the CPU done fast."""
    aten = torch.ops.aten
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or node.target not in (aten.mm.default, aten.addmm.default):
            continue
        bias, a, b = (None, *node.args) if node.target is aten.mm.default else node.args
        left, right = a.meta["val"], b.meta["val"]
        if node.kwargs or left.dtype != torch.float32 or left.device.type != "cpu":
            continue
        if bias is not None and len(bias.meta["val"].shape) != 1:
            continue
        multiplications = left.numel() * right.shape[1]
        if multiplications < onednn.SMALLEST:
            continue
        with graph.graph.inserting_before(node):
            if onednn.is_faster(left, multiplications):
                fast = graph.graph.call_function(torch.ops.rungwise.product.default, (a, b, bias))
            elif bias is not None and onednn.has_intel_cpu():
                fast = _added_later(graph.graph, node, bias, a, b)
            else:
                continue
        fast.meta = dict(node.meta)
        node.replace_all_uses_with(fast)
        graph.graph.erase_node(node)
    graph.recompile()
    return graph


def _added_later(graph: fx.Graph, node: fx.Node, bias: fx.Node, a: fx.Node, b: fx.Node) -> fx.Node:
    """a b + bias, the bias added by the loop that reads the product; MKL would first copy it to every row.

    TorchInductor puts a product and a sum together again, unless something stands between them.
    """
    form = node.meta["val"]
    product = graph.call_function(torch.ops.aten.mm.default, (a, b))
    kept = graph.call_function(
        torch.ops.aten.as_strided.default, (product, list(form.shape), [form.shape[1], 1])
    )
    for each in (product, kept):
        each.meta = dict(node.meta)
    return graph.call_function(torch.ops.aten.add.Tensor, (kept, bias))
