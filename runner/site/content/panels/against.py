"""Panels `against_columns`: a metric over the values of a key that the columns differ in."""

from __future__ import annotations

import pandas as pd

from runner.report.analysis.table_entries import interval_of
from runner.report.figures.panel import PanelData
from runner.site.content.charts import apart, axis
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, Trace, joined, points, printed


def against_columns(data: PanelData, frame: pd.DataFrame, known: Known) -> Plot | None:
    """Means and intervals of the table's numbers `frame`, each column at its value of the panel's `x`.

    A line is broken where a mean is not of all runs, as in `runner.report.panels.lines`. None where a column
    does not say that value, or the table has no numbers.
    """
    panel, quantity, traces = data.panel, known.quantity(data.metric.metric), list[Trace]()
    wheres = {label: data.shape.column(label).where.get(panel.x) for label in panel.columns}
    if not all(isinstance(value, int | float) for value in wheres.values()):
        return None
    places = {label: float(value) ** panel.x_power for label, value in wheres.items()}  # type: ignore[arg-type]
    own = frame[(frame["metric"] == panel.metric) & frame["cell"].isin(places)]
    own = own.assign(place=own["cell"].map(places)).sort_values("place", kind="stable")
    for row in data.rows:
        style, found = data.styles[row.row], own[own["row"] == row.row]
        measured = found[found["mean"].notna()]
        if measured.empty:
            continue
        spans = [interval_of(each) for each in measured.to_dict("records")]
        trace = points(row.row, style, list(measured["place"]), spans, quantity)
        partial = {places[label]: note for label in places if (note := data.partial(row.row, label))}
        within = found[found["place"].between(measured["place"].min(), measured["place"].max())]
        if len(within) == len(measured) and not partial:
            traces.append(joined(trace, style))
        else:
            notes = [partial.get(place) for place in trace["x"]]
            traces.append(joined(apart(trace, notes), style) | {"mode": "markers"})
            means = zip(within["place"], within["mean"], strict=True)
            whole = [mean if mean == mean and place not in partial else None for place, mean in means]
            line = {"x": list(within["place"]), "y": whole, "mode": "lines"}
            traces.append(joined(trace, style) | line | {"hoverinfo": "skip", "showlegend": False})
        for version in data.metric.published:
            values = dict(zip(found["place"], found[f"published_{version}"], strict=True))
            values = {place: value for place, value in values.items() if value == value}
            if values:
                traces.append(printed(row.row, style, version, list(values), list(values.values())))
    if not traces:
        return None
    name = panel.y_label or data.metric.name
    layout = {"xaxis": {"title": {"text": panel.x_label or panel.x}}, "yaxis": axis(quantity, name)}
    return {
        "name": quantity.titled(name), "column": panel.title, "traces": traces, "layout": layout,
        "logx": bool(panel.log_x), "logy": panel.log, "log": "xy",
    }  # fmt: skip
