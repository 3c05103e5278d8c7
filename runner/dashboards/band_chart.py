"""The chart of a metric's mean and 95 % interval: W&B's own line plots know standard errors only."""

from __future__ import annotations

from typing import Any

import wandb

NAME = "rungwise-interval"

SPEC: dict[str, Any] = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "description": "Mean over seeds and its 95 % interval, a colour for each row of the table.",
    "data": {"name": "wandb"},
    "title": "${string:title}",
    "transform": [{"filter": "datum['${field:metric}'] === '${string:metric}'"}],
    "facet": {"field": "${field:column}", "type": "nominal", "title": None},
    "columns": 2,
    "spec": {
        "encoding": {
            "x": {"field": "${field:x}", "type": "quantitative", "scale": {"type": "symlog"}},
            "color": {"field": "${field:row}", "type": "nominal", "title": None},
        },
        "layer": [
            {
                "mark": {"type": "errorband", "opacity": 0.2},
                "encoding": {
                    "y": {
                        "field": "${field:lo}",
                        "type": "quantitative",
                        "scale": {"zero": False},
                        "title": "${string:title}",
                    },
                    "y2": {"field": "${field:hi}"},
                },
            },
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"y": {"field": "${field:mean}", "type": "quantitative"}},
            },
        ],
    },
}
"""Vega-Lite; W&B puts the panel's fields and strings in the places in braces."""


def add_band_chart(api: wandb.Api, entity: str) -> str:
    """Makes the chart known to W&B, anew where it is known already; the name that panels call it by."""
    api.create_custom_chart(entity, NAME, "Mean and 95 % interval", "vega2", "private", SPEC)
    return f"{entity}/{NAME}"


def fields(axis: str) -> dict[str, str]:
    """Which columns of the table of curves the chart draws against `axis`."""
    return {"x": axis, **{name: name for name in ("row", "column", "metric", "mean", "lo", "hi")}}
