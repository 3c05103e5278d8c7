"""That a step cannot be compiled, and why."""

from __future__ import annotations

import re

import torch
from torch import Tensor, fx

from targets.trial.failures import own_line


class NotCompiledError(ValueError):
    """A step cannot be compiled; the message says why, in half a sentence."""


def of_unknown_shape(graph: fx.GraphModule) -> str | None:
    """What says that the shape of a tensor in `graph` depends on values, as with a mask as an index."""
    for node in graph.graph.nodes:
        if torch.Tag.dynamic_output_shape not in getattr(node.target, "tags", ()):
            continue
        masks = [each for each in node.all_input_nodes[1:] if _value(graph, each).dtype == torch.bool]
        if masks or node.target is not torch.ops.aten.index.Tensor:
            return f"the shape that {node.target} gives depends on values"
    return None


def _value(graph: fx.GraphModule, node: fx.Node) -> Tensor:
    """What `node` gives; torch 2.6 keeps that of a constant in the graph alone."""
    found: Tensor = node.meta["val"] if "val" in node.meta else getattr(graph, str(node.target))
    return found


def operation(error: Exception) -> str:
    """What of it cannot be traced, from the message of the error, and the user's line that it came from."""
    where = own_line(error)
    return f"{_asked(error)} ({where})" if where else _asked(error)


def _asked(error: Exception) -> str:
    said = str(error)
    asked = re.search(r"aten[:.]+\w+", said)
    if asked:
        return f"it asks for {asked.group()}"
    return "it writes into a tensor of its own" if "non-functional tensor" in said else first_line(error)


def first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")[:200]
