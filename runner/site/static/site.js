// What Plotly and DataTables need to know of our pages; everything that is computed is in the pages' data.
"use strict";

const rungwise = {};

const dark = window.matchMedia("(prefers-color-scheme: dark)");

// Colours of a chart that follow the page; those of samplers are in the data.
rungwise.layout = (own, logx, logy) => {
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  const grid = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
  const narrow = window.innerWidth < 640;
  const beside = Object.keys(own).filter((name) => /^[xy]axis\d/.test(name));
  const axis = (given, log) => ({
    automargin: true, gridcolor: grid, linecolor: grid, zerolinecolor: grid, exponentformat: "power",
    ...given, ...(log ? { type: "log" } : {}),
  });
  return {
    ...own,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: narrow ? 11 : 13 },
    margin: { l: 56, r: 12, t: 12, b: 48 }, height: narrow ? 420 : 480, hovermode: "closest",
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", itemsizing: "constant", ...(own.legend || {}) },
    hoverlabel: { align: "left" },
    xaxis: axis({ ...(own.xaxis || {}) }, logx && (own.xaxis || {}).type !== "category"),
    yaxis: axis({ ...(own.yaxis || {}) }, logy),
    ...Object.fromEntries(beside.map((name) => [name, axis(own[name], false)])),
  };
};

rungwise.options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

// What is black on paper: some traces, and intervals where marks are of several colours or filled.
rungwise.inked = ({ ink, ...trace }) => {
  const color = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  for (const error of ["error_x", "error_y"]) {
    if (trace[error] && (trace.type === "bar" || Array.isArray(trace.marker.color))) return { ...trace, [error]: { ...trace[error], color } };
  }
  return ink ? { ...trace, marker: { ...trace.marker, color }, line: { ...trace.line, color } } : trace;
};

// Two colours of samplers are too dark for a dark page.
const LIGHTER = { "#332288": "#9b8cf0", "#882255": "#d9709f" };
rungwise.draw = (area, traces, layout) => {
  let given = JSON.stringify(traces);
  if (dark.matches) for (const [from, to] of Object.entries(LIGHTER)) given = given.replaceAll(from, to);
  return Plotly.react(area, JSON.parse(given).map(rungwise.inked), layout, rungwise.options);
};

// Width of a plot of cells, in pixels.
const SQUARE = 620;
rungwise.chart = (box) => {
  const spec = JSON.parse(box.querySelector("script").textContent);
  const area = box.querySelector(".plot");
  const role = (name) => box.querySelector(`[data-role="${name}"]`);
  const hidden = new Set();
  const shown = () => spec.plots[Number(role("plot")?.value || 0)];
  // What can be chosen of a plot, and which of its axes are logarithmic at first.
  const scale = () => {
    const plot = shown(), may = plot.log ?? "xy";
    const has = (name) => plot.traces.some((trace) => trace[name]);
    role("rows").closest("details").hidden = !has("legendgroup");
    if (role("published")) role("published").parentElement.hidden = !has("published");
    for (const axis of ["x", "y"]) {
      const tick = role(`log${axis}`);
      if (!tick) continue;
      tick.parentElement.hidden = !may.includes(axis);
      if (axis === "y" || "logx" in plot) tick.checked = may.includes(axis) && Boolean(plot[`log${axis}`]);
    }
  };
  const draw = () => {
    const plot = shown();
    const along = role("along")?.value;
    const may = plot.log ?? "xy";
    const logx = may.includes("x") && role("logx")?.checked, logy = may.includes("y") && role("logy")?.checked;
    const published = role("published")?.checked ?? true;
    const traces = plot.traces
      .filter((trace) => !hidden.has(trace.legendgroup) && (published || !trace.published))
      .map(({ along: places, published: _, ...trace }) => (places ? { ...trace, x: places[along] } : trace));
    const layout = { ...plot.layout, autosize: true, width: plot.square ? Math.min(SQUARE, box.clientWidth) : undefined };
    if (along) layout.xaxis = { ...(layout.xaxis || {}), title: { text: spec.along[along] } };
    rungwise.draw(area, traces, rungwise.layout(layout, logx, logy));
    area.setAttribute("role", "group");
    area.setAttribute("aria-label", `${box.querySelector("figcaption").textContent}: ${plot.name}`);
  };
  const rows = role("rows");
  const names = [...new Set(spec.plots.flatMap((plot) => plot.traces.map((trace) => trace.legendgroup)))];
  for (const name of names.filter(Boolean)) {
    const label = document.createElement("label");
    const tick = Object.assign(document.createElement("input"), { type: "checkbox", checked: true, value: name });
    tick.addEventListener("change", () => { hidden[tick.checked ? "delete" : "add"](name); draw(); });
    label.append(tick, ` ${name}`);
    rows.append(label);
  }
  role("plot")?.addEventListener("change", scale);
  box.querySelectorAll("select, input[data-role]").forEach((each) => each.addEventListener("change", draw));
  scale();
  dark.addEventListener("change", draw);
  draw();
};

// Sortable tables; the page is whole without them.
rungwise.tables = async () => {
  if (!window.rungwiseTables) return [];
  const { default: DataTable, set_or_remove_dark_class: theme } = await window.rungwiseTables;
  theme?.();
  const made = [...document.querySelectorAll("table.sortable")].map((table) => new DataTable(table, {
    paging: Boolean(table.dataset.page), pageLength: Number(table.dataset.page || 10), searching: false,
    info: Boolean(table.dataset.page), order: [], autoWidth: false,
    layout: { topStart: null, topEnd: null, bottomStart: table.dataset.page ? "info" : null, bottomEnd: table.dataset.page ? "paging" : null },
  }));
  const shown = document.getElementById("show-published");
  shown?.addEventListener("change", () => made.forEach((table) => table.columns("th.published").visible(shown.checked)));
  return made;
};

// A page that `--watch` serves looks whether it has changed, and says so in a cookie.
rungwise.live = () => {
  if (!document.cookie.includes("rungwise_live=1")) return;
  const watched = document.body.dataset.watched || location.pathname;
  let before = null;
  setInterval(async () => {
    try {
      const found = (await fetch(watched, { method: "HEAD", cache: "no-store" })).headers.get("Last-Modified");
      if (before && found && found !== before) location.reload();
      before = found || before;
    } catch { /* the server has ended; the page stays as it is */ }
  }, 2000);
};

document.addEventListener("DOMContentLoaded", () => {
  if (window.Plotly) document.querySelectorAll("figure[data-chart]").forEach(rungwise.chart);
  const margins = document.getElementById("show-margins");
  margins?.addEventListener("change", () => document.body.classList.toggle("no-margins", !margins.checked));
  rungwise.tables().then(() => { document.documentElement.dataset.ready = "1"; });
  rungwise.live();
});
