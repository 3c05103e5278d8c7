"""The page of a run: what it was told to do, what it measured, and where its chains ended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from runner.report.block_references import ALONG
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.sampler_looks import BLUE
from runner.report.table_shape import BETTER, Direction
from runner.site.content.charts import axis
from runner.site.content.curves import Curve
from runner.site.content.diagnostics import diagnostics_chart
from runner.site.content.experiment_places import Place
from runner.site.content.pictures import Picture, states_of
from runner.site.content.tours import TOURS, visited_tour
from runner.site.index.run_entry import RunEntry
from runner.site.pages.rendering import moment, render
from runner.site.pages.site_folder import SiteFolder
from runner.store.arrays.series_file import load_series
from runner.store.run_folder import RunFolder

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


def write_run_page(
    run: RunEntry,
    folder: RunFolder,
    curves: Mapping[str, Curve],
    quantities: Mapping[str, Quantity],
    places: Sequence[Place],
    site: SiteFolder,
) -> None:
    """Writes the page of one run.

    Args:
        curves: its metrics along it.
        quantities: unit and direction of each metric.
        places: the experiments that it is of, whichever of them computed it.
    """
    tuning = run.about.get("tuning") or {}
    page = render(
        "run.html",
        page="run", up="../", run=run, places=places,
        chart=along_chart(curves, quantities), rungs=rungs_chart(run, tuning),
        chains=diagnostics_chart(load_series(folder.path)) if run.done else None,
        pictures=_pictures(folder) if run.done else [],
        diagnostics=[
            {"name": name, "value": f"{run.metrics[name]:.8g}", "said": said}
            for name, said in DIAGNOSTICS.items()
            if run.metrics.get(name) is not None
        ],
        better=BETTER, about={name: quantities.get(name, Quantity("")) for name in run.metrics},
        tuned=tuning.get("hyperparameters"), origin=_origin(run), notes={},
    )  # fmt: skip
    site.write(f"runs/{run.run_id}.html", page)


def _pictures(folder: RunFolder) -> list[Picture]:
    """The states of a run that is done, as far as it keeps them."""
    config = folder.config() if folder.config_names(TOURS) else None
    tour = visited_tour(folder.path, config)
    return [*states_of(folder.path), *([] if tour is None else [tour])]


def along_chart(curves: Mapping[str, Curve], quantities: Mapping[str, Quantity]) -> dict[str, Any] | None:
    """Every metric that was recorded more than once; None where there is none."""
    long = [name for name, curve in curves.items() if len(curve.step) > 1 and name != "evaluations"]
    known = {name: quantities.get(name, Quantity("")) for name in long}
    plots = []
    for name in sorted(long, key=lambda name: known[name].direction is Direction.none):
        trace = {
            "type": "scatter", "mode": "lines+markers", "name": name, "meta": name, "showlegend": False,
            "along": {key: getattr(curves[name], key) for key in ALONG}, "y": curves[name].value,
            "line": {"color": BLUE, "width": 2}, "marker": {"size": 6},
            "hovertemplate": "%{meta}<br>%{x}: %{y:.6g}<extra></extra>",
        }  # fmt: skip
        layout = {"yaxis": axis(known[name], name)}
        plots.append({"name": known[name].titled(name), "traces": [trace], "layout": layout})
    return {"plots": plots, "along": ALONG} if plots else None


def rungs_chart(run: RunEntry, tuning: Mapping[str, Any]) -> dict[str, Any] | None:
    """By rung of the ladder: acceptance, swaps and visits of the run, what it was given, and its pilot."""
    report, tuned = tuning.get("report") or {}, tuning.get("hyperparameters") or {}
    own = run.about.get("rungs") or {}
    ladder = tuned.get("ladder") or own.get("inverse_temperature") or run.settings.get("sampler.ladder")
    occupied = sorted(
        (int(found[1]), value) for name, value in run.metrics.items() if (found := LEVEL.match(name))
    )
    tried = [f"{size:.4g}" for size in _numbers(report.get("step_size"))]
    plots = [
        _by_rung("acceptance", own.get("acceptance"), ladder),
        _by_rung("swap rate with the next rung", own.get("swap_rate"), ladder),
        _by_rung("share of steps at each level", [value for _, value in occupied], ladder),
        _by_rung("inverse temperature", ladder, ladder),
        _by_rung("step size", tuned.get("step_size"), ladder),
        _by_rung("swap rate in the pilot", _swaps(report), report.get("pilot_ladder")),
        _bars("acceptance in the pilot", "tried step size", tried, _numbers(report.get("acceptance"))),
    ]
    known = [plot for plot in plots if plot is not None]
    return {"plots": known} if known else None


def _swaps(report: Mapping[str, Any]) -> list[float]:
    return [1.0 - each for each in _numbers(report.get("pilot_rejections"))]


def _by_rung(title: str, values: Any, ladder: Any) -> dict[str, Any] | None:
    """One bar a rung, which says its inverse temperature where that is known."""
    found, betas = _numbers(values), _numbers(ladder)
    said = [f", inverse temperature {beta:.4g}" for beta in betas[: len(found)]]
    return _bars(title, "rung", [str(rung) for rung in range(len(found))], found, said)


def _bars(
    title: str, across: str, places: Sequence[str], values: Sequence[float], said: Sequence[str] = ()
) -> dict[str, Any] | None:
    """One bar at each of `places`; None where there are no values, or others than places."""
    if not values or len(values) != len(places):
        return None
    trace = {
        "type": "bar", "name": title, "showlegend": False, "x": list(places), "y": list(values),
        "customdata": list(said) if len(said) == len(values) else [""] * len(values),
        "marker": {"color": BLUE},
        "hovertemplate": f"{across} %{{x}}%{{customdata}}<br>%{{y:.5g}}<extra></extra>",
    }  # fmt: skip
    layout = {"xaxis": {"type": "category", "title": {"text": across}}, "yaxis": {"title": {"text": title}}}
    return {"name": title, "traces": [trace], "layout": layout}


def _numbers(values: Any) -> list[float]:
    """A list of numbers, which as a setting is a text; empty where it is something else."""
    if isinstance(values, str):
        with suppress(ValueError):
            values = json.loads(values)
    known = isinstance(values, list) and all(isinstance(each, int | float) for each in values)
    return values if known else []


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
