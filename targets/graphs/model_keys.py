"""Which arguments of `targets.graphs.random_graphs.random_graph` its models read; needs no torch."""

from __future__ import annotations

from typing import Any

DEGREE, CLIQUES, TIGHTNESS = 4.0, 10, 0.25
"""The defaults of these arguments."""

RB = "rb"
"""The one model that reads `cliques` and `tightness`, and the only one that does not read `degree`."""

OF_RB: dict[str, Any] = {"cliques": CLIQUES, "tightness": TIGHTNESS}
OF_OTHERS: dict[str, Any] = {"degree": DEGREE}


def unread_keys(model: Any) -> dict[str, Any]:
    """The arguments that `model` does not read, with their defaults."""
    return OF_OTHERS if model == RB else OF_RB
