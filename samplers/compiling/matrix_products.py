"""Matrix products of a compiled step by the faster of two libraries: MKL on CPUs of Intel, oneDNN on others.

On CPUs of AMD, oneDNN takes between half and nine tenths of the time of MKL; on one of Intel, 1.1 times it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx

SMALLEST = 2**20
"""Multiplications below which MKL is as fast."""


def product(a: Tensor, b: Tensor, bias: Tensor | None) -> Tensor:
    """a b + bias for `a` ``(n, k)``, `b` ``(k, m)`` and `bias` ``(m,)`` in float32."""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(a, b.T, bias, "none", [], "")
    return found


def _form(a: Tensor, b: Tensor, bias: Tensor | None) -> Tensor:
    return a.new_empty(a.shape[0], b.shape[1])


# Of torch's ways to define an operation the one with the least time for a call; none of it is typed.
_library: Any = torch.library.Library("rungwise", "DEF")  # type: ignore[no-untyped-call]
_library.define("product(Tensor a, Tensor b, Tensor? bias) -> Tensor")
_library.impl("product", product, "CPU")
_library.impl("product", _form, "Meta")


def with_fast_products(graph: fx.GraphModule) -> fx.GraphModule:
    """`graph` with its large matrix products in float32 on the CPU done fast."""
    intel = has_intel_cpu()
    if not intel and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return graph
    aten = torch.ops.aten
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or node.target not in (aten.mm.default, aten.addmm.default):
            continue
        bias, a, b = (None, *node.args) if node.target is aten.mm.default else node.args
        shapes = [each.meta["val"] for each in (a, b)]
        if node.kwargs or any(form.dtype != torch.float32 or form.device.type != "cpu" for form in shapes):
            continue
        if bias is not None and len(bias.meta["val"].shape) != 1:
            continue
        if shapes[0].shape.numel() * shapes[1].shape[1] < SMALLEST or (intel and bias is None):
            continue
        with graph.graph.inserting_before(node):
            if intel:
                fast = _added_later(graph.graph, node, bias, a, b)
            else:
                fast = graph.graph.call_function(torch.ops.rungwise.product.default, (a, b, bias))
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


@cache
def has_intel_cpu() -> bool:
    """Whether this computer's CPU is one of Intel; False where the system does not say."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
