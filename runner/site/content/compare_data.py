"""What the page Compare reads: every run in columns, and the curves of runs in files of a few each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from runner.config.experiments.same_jobs import NO_PART
from runner.config.run_settings import METRIC, UNLISTED, absence_tells, value_shown
from runner.report.block_references import ALONG
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.sampler_looks import IN_TURN, look_of
from runner.report.table_shape import Direction
from runner.site.content.curves import Curve
from runner.site.content.experiment_places import Place
from runner.site.content.script_json import script_json
from runner.site.index.run_entry import RunEntry
from runner.site.index.store_index import Index


def t_quantiles(index: Index) -> list[float]:
    """Half the width of a 95 % interval in standard errors, by degrees of freedom from 1 on.

    There are as many as a mean over all runs of the store needs.
    """
    found: list[float] = index.kept.setdefault("t", [])
    most = max(len(index.runs) - 1, 1)
    if len(found) < most:
        from metrics.inference.few_seeds import LEVEL, t_quantile

        # Twice as many, so that a sweep that is being watched does not ask for more at each run.
        further = range(len(found) + 1, 2 * most + 1)
        found.extend(round(t_quantile(0.5 + LEVEL / 2, degrees), 6) for degrees in further)
    return found[:most]


def runs_script(
    runs: Sequence[RunEntry],
    known: Mapping[str, Quantity],
    commands: Mapping[str, str],
    shards: Sequence[str],
    t: Sequence[float],
    places: Mapping[str, Sequence[Place]],
) -> str:
    """The script that hands all runs to the page.

    A setting that is the same in all runs is in ``alike`` with its value. Texts are places in a list of
    values, metrics and costs are numbers or null. Runs of the same chains, such as those of other metrics,
    have the same number in ``same``: they are one to a mean over seeds. Settings in ``without`` tell runs
    without them from those of the same options with them.

    Args:
        commands: a short name of each command that started runs.
        shards: the files of curves that there are.
        t: see `t_quantiles`.
        places: the experiments that a run is of, by its id. Its own may be another one, which computed it, or
            none.
    """
    of = [places.get(run.run_id, ()) for run in runs]
    further = {
        "experiment": [[place.experiment for place in own] for own in of],
        "table": [[place.key for place in own] for own in of],
    }
    settings = [run.settings for run in runs]
    every = dict.fromkeys(key for each in settings for key in each)
    keys = [key for key in every if _differs(key, settings)]
    names = sorted({name for run in runs for name in run.metrics})
    samplers = sorted({str(run.settings["sampler"]) for run in runs if "sampler" in run.settings})
    described: dict[str, list[Any]] = {
        "status": [run.status for run in runs],
        "experiment": [run.experiment or "none" for run in runs],
        "table": [next(iter(own), "none") for own in further["table"]],
        "sweep": [commands.get(str(run.about.get("command")), "none") for run in runs],
        "tags": [run.about.get("tags", "none") for run in runs],
        "seed": [run.seed for run in runs],
        **{key: [value_shown(each, key) if key in each else None for each in settings] for key in keys},
    }
    content = {
        "ids": [run.run_id for run in runs],
        "keys": {key: _coded(values, further.get(key, ())) for key, values in described.items()},
        "alike": {key: value_shown(settings[0], key) for key in every if key not in keys},
        "same": _coded([_chains_of(run) for run in runs])["at"],
        "without": [key for key in keys if absence_tells(key)],
        "metrics": {name: [run.metrics.get(name) for run in runs] for name in names},
        "costs": {key: [run.costs.get(key) for run in runs] for key in ("evaluations", "seconds")},
        "steps": [run.costs.get("steps") for run in runs],
        "units": {name: known[name].unit for name in names if known[name].unit},
        "directions": {
            name: known[name].direction.value for name in names if known[name].direction is not Direction.none
        },
        "bounds": {
            name: [end if math.isfinite(end) else None for end in (known[name].low, known[name].high)]
            for name in names
        },
        "colours": {name: look_of(name)[0] for name in samplers},
        "inTurn": IN_TURN,
        "commands": {name: command for command, name in commands.items()},
        "shards": shards,
        "t": t,
        "along": ALONG,
    }
    return f"rungwise.runs({script_json(content)});\n"


def _differs(key: str, settings: Sequence[Mapping[str, Any]]) -> bool:
    return key in ("target", "sampler", "scale") or len({str(each.get(key)) for each in settings}) > 1


def _chains_of(run: RunEntry) -> tuple[Any, ...]:
    """What a run's chains are: its seed and settings, whatever it measured on them or kept of them."""
    beside = {*UNLISTED, *NO_PART}
    own = {
        key: str(value)
        for key, value in run.settings.items()
        if key not in beside and not key.startswith(f"{METRIC}.")
    }
    return (run.seed, *sorted(own.items()))


def _coded(values: Sequence[Any], further: Sequence[Sequence[Any]] = ()) -> dict[str, Any]:
    """The distinct values, and the place of each value among them; -1 where there is none.

    Where a run has `further` values besides its own, their places are in ``also``, by the run's.
    """
    distinct = list(dict.fromkeys(value for value in chain(values, *further) if value is not None))
    places = {value: place for place, value in enumerate(distinct)}
    coded = {"values": distinct, "at": [-1 if value is None else places[value] for value in values]}
    others = [[places[each] for each in dict.fromkeys(own)] for own in further]
    also = {str(run): [each for each in own if each != coded["at"][run]] for run, own in enumerate(others)}
    return coded | {"also": {run: own for run, own in also.items() if own}} if further else coded


def shard_of(run_id: str) -> str:
    """The file that has the curves of a run."""
    return run_id[:2]


def curves_script(shard: str, curves: Mapping[str, Mapping[str, Curve]]) -> str:
    """The script that hands the curves of a few runs to the page, by run.

    Metrics that were recorded at the same steps share them."""
    content = {}
    for run_id, own in curves.items():
        long = {name: curve for name, curve in own.items() if len(curve.step) > 1}
        points: dict[tuple[int, ...], dict[str, Any]] = {}
        for name, curve in long.items():
            part = points.setdefault(
                tuple(curve.step), {key: getattr(curve, key) for key in ALONG} | {"values": {}}
            )
            part["values"][name] = curve.value
        if points:
            content[run_id] = list(points.values())
    return f"rungwise.curves({script_json(shard)},{script_json(content)});\n"
