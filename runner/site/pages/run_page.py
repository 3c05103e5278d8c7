"""The page of a run: what it was told to do, what it measured, and where its chains ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runner.site.content.curves import AXES, Curve
from runner.site.content.diagnostics import diagnostics_chart
from runner.site.content.pictures import states_of
from runner.site.index.metric_facts import MetricFacts
from runner.site.index.run_entry import RunEntry
from runner.site.pages.rendering import moment, render
from runner.site.pages.site_folder import SiteFolder
from runner.store.run_folder import RunFolder
from runner.store.series_file import load_series

DIAGNOSTICS = {
    "rhat": "split R-hat over the chains; near 1 where they agree",
    "rhat_mode": "split R-hat of the modes that the chains are in",
    "ess": "effective sample size of all chains",
    "ess_mode": "effective sample size of the modes that the chains are in",
    "steps_per_draw": "steps for one independent draw",
    "truth_rhat": "R-hat of the two reference samples",
    "round_trips": "journeys of replicas along the ladder and back, all chains together",
    "round_trip_rate": "round trips per chain and 1,000 swap rounds, all replicas together",
    "barrier": "communication barrier of the ladder",
    "swap_rate_min": "least swap rate between neighbouring rungs",
    "level_occupancy_uneven": "how unevenly the levels of temperature are visited",
}
"""What a run keeps of the diagnosis of its chains."""

LEVEL = re.compile(r"level_(\d+)$")
COLOUR = "#0072B2"


def write_run(
    run: RunEntry,
    folder: RunFolder,
    curves: Mapping[str, Curve],
    facts: Mapping[str, MetricFacts],
    experiment: str,
    site: SiteFolder,
) -> None:
    """Writes the page of one run.

    Args:
        curves: its metrics along it.
        facts: unit and direction of each metric.
        experiment: name of the page of its experiment; empty where it has none.
    """
    tuning = run.about.get("tuning") or {}
    page = render(
        "run.html",
        page="run", up="../", run=run, experiment=experiment,
        chart=along_chart(curves, facts), rungs=rungs_chart(run, tuning),
        chains=diagnostics_chart(load_series(folder.path)) if run.done else None,
        pictures=states_of(folder.path) if run.done else [],
        diagnostics=[
            {"name": name, "value": f"{run.metrics[name]:.5g}", "said": said}
            for name, said in DIAGNOSTICS.items()
            if run.metrics.get(name) is not None
        ],
        about={name: facts.get(name, MetricFacts()) for name in run.metrics},
        tuned=tuning.get("hyperparameters"), origin=_origin(run), notes={},
    )  # fmt: skip
    site.write(f"runs/{run.run_id}.html", page)


def along_chart(curves: Mapping[str, Curve], facts: Mapping[str, MetricFacts]) -> dict[str, Any] | None:
    """Every metric that was recorded more than once; None where there is none."""
    long = [name for name, curve in curves.items() if len(curve.step) > 1 and name != "evaluations"]
    known = {name: facts.get(name, MetricFacts()) for name in long}
    plots = []
    for name in sorted(long, key=lambda name: known[name].direction == "none"):
        title = known[name].titled(name)
        trace = {
            "type": "scatter", "mode": "lines+markers", "name": name, "meta": name, "showlegend": False,
            "along": {key: getattr(curves[name], key) for key in AXES}, "y": curves[name].value,
            "line": {"color": COLOUR, "width": 2}, "marker": {"size": 6},
            "hovertemplate": "%{meta}<br>%{x}: %{y:.6g}<extra></extra>",
        }  # fmt: skip
        plots.append({"name": title, "traces": [trace], "layout": {"yaxis": {"title": {"text": title}}}})
    return {"plots": plots, "along": AXES} if plots else None


def rungs_chart(run: RunEntry, tuning: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is known by rung of the ladder: its inverse temperatures, steps, visits, swaps of the pilot."""
    report, tuned = tuning.get("report") or {}, tuning.get("hyperparameters") or {}
    occupied = sorted(
        (int(found[1]), value) for name, value in run.metrics.items() if (found := LEVEL.match(name))
    )
    plots = [
        _by_rung("share of steps at each level", [value for _, value in occupied]),
        _by_rung("inverse temperature of each rung", tuned.get("ladder")),
        _by_rung("step size of each rung", tuned.get("step_size")),
        _by_rung("swap probability between neighbours, ladder of the pilot", _swaps(report)),
        _by_rung(
            "acceptance in the pilot, by tried step size", report.get("acceptance"), report.get("step_size")
        ),
    ]
    known = [plot for plot in plots if plot is not None]
    return {"plots": known} if known else None


def _swaps(report: Mapping[str, Any]) -> list[float] | None:
    rejections = report.get("pilot_rejections")
    return [1.0 - float(each) for each in rejections] if isinstance(rejections, list) else None


def _by_rung(title: str, values: Any, places: Any = None) -> dict[str, Any] | None:
    """One bar a rung; None for fewer than two numbers."""
    if (
        not isinstance(values, list)
        or len(values) < 2
        or not all(isinstance(each, int | float) for each in values)
    ):
        return None
    named = places if isinstance(places, list) and len(places) == len(values) else list(range(len(values)))
    trace = {
        "type": "bar", "name": title, "showlegend": False, "y": values,
        "x": [f"{place:.4g}" if isinstance(place, float) else str(place) for place in named],
        "marker": {"color": COLOUR}, "hovertemplate": "%{x}: %{y:.5g}<extra></extra>",
    }  # fmt: skip
    across = "step size" if named is places else "rung"
    layout = {"xaxis": {"type": "category", "title": {"text": across}}, "yaxis": {"title": {"text": title}}}
    return {"name": title, "traces": [trace], "layout": layout}


def _origin(run: RunEntry) -> dict[str, str]:
    about = run.about
    git = about.get("git") or {}
    found = {
        "command": about.get("command"),
        "commit": f"{git.get('commit')}{' with changes' if git.get('dirty') else ''}"
        if git.get("commit")
        else None,
        "device": about.get("device"),
        "host": about.get("host"),
        "threads": about.get("threads"),
        "started": moment(about.get("started")),
        "finished": moment(about.get("finished")),
        "model": about.get("model"),
    }
    return {name: str(value) for name, value in found.items() if value not in (None, "")}
