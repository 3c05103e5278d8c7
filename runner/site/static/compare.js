// The page Compare: which runs are chosen, which are averaged together, and what is drawn of them.
"use strict";

(() => {
  const FIRST = ["target", "sampler", "experiment", "scale", "tags", "status"];
  const MANY = 400, LISTED = 2000, BARS = 80;
  const at = (id) => document.getElementById(id);
  const curves = {}, asked = new Map();
  let runs = null, table = null;

  const value = (key, run) => (key in runs.keys ? runs.keys[key].values[runs.keys[key].at[run]] : undefined);
  // A run has one experiment that computed it, and is also of those that found it computed.
  const every = (key, run) => [value(key, run), ...(runs.keys[key]?.also?.[run] || []).map((place) => runs.keys[key].values[place])];
  const text = (given) => (given === undefined ? "none" : String(given));

  // The address after # is the whole state: key=value,value for conditions, and what is shown.
  const OWN = ["view", "metric", "along", "group", "logx", "logy"];
  const state = () => {
    const found = { conditions: {} };
    for (const [key, given] of new URLSearchParams(location.hash.slice(1))) {
      if (OWN.includes(key)) found[key] = given;
      else if (given) {
        // What is the same in all runs is in the data once.
        if (key in runs.alike) runs.keys[key] ??= { values: [runs.alike[key]], at: runs.ids.map(() => (runs.alike[key] === null ? -1 : 0)) };
        found.conditions[key] = given.split(",").map(decodeURIComponent);
      }
    }
    return found;
  };
  const keep = (conditions) => {
    const parts = Object.entries(conditions).filter(([, given]) => given.length)
      .map(([key, given]) => `${encodeURIComponent(key)}=${given.map((each) => encodeURIComponent(encodeURIComponent(each))).join(",")}`);
    for (const name of ["view", "metric", "along", "group"]) if (at(name).value) parts.push(`${name}=${encodeURIComponent(at(name).value)}`);
    for (const name of ["logx", "logy"]) if (at(name).checked) parts.push(`${name}=1`);
    history.replaceState(null, "", `#${parts.join("&")}`);
  };

  const chosen = (conditions) => {
    const wanted = Object.entries(conditions).filter(([, given]) => given.length)
      .map(([key, given]) => [key, new Set(given)]);
    return runs.ids.map((_, run) => run).filter((run) => wanted.every(([key, given]) => every(key, run).some((each) => given.has(text(each)))));
  };

  const options = (select, entries, selected) => {
    select.replaceChildren(...entries.map(([given, said]) => new Option(said, given, false, given === selected)));
  };

  // Settings that differ between chosen runs with the same option of their group: what tells them apart besides the seed.
  // Of some it also does which runs have none, among those of the same task.
  const varied = (found) => Object.keys(runs.keys).filter((key) => {
    if (["seed", "sweep", "tags", "status", "experiment", "table", "threads"].includes(key)) return false;
    const group = key.includes(".") ? key.split(".")[0] : null, seen = new Map(), having = new Map();
    for (const run of found) {
      const given = runs.keys[key].at[run];
      const beside = group ? `${runs.keys[group]?.at[run]} ${runs.keys.scale?.at[run]}` : "";
      if (group && runs.without.includes(key)) {
        const alike = `${beside} ${runs.keys.task?.at[run]}`;
        if (having.has(alike) && having.get(alike) !== given >= 0) return true;
        having.set(alike, given >= 0);
      }
      if (group && given < 0) continue;
      if (!seen.has(beside)) seen.set(beside, given);
      else if (seen.get(beside) !== given) return true;
    }
    return false;
  });

  const groups = (found, key) => {
    const named = key === "all" ? ["sampler", "target", ...varied(found).filter((each) => !["sampler", "target"].includes(each))] : [key];
    const made = new Map();
    const shown = named.filter((each) => each === "sampler" || new Set(found.map((run) => text(value(each, run)))).size > 1);
    for (const run of found) {
      const name = shown.map((each) => {
        const given = value(each, run);
        return given === undefined ? null : ["sampler", "target"].includes(each) || named.length === 1 ? text(given) : `${each.split(".").pop()} ${text(given)}`;
      }).filter((each) => each !== null).join(", ");
      if (!made.has(name)) made.set(name, []);
      made.get(name).push(run);
    }
    return new Map([...made].sort(([one], [other]) => one.localeCompare(other, undefined, { numeric: true })));
  };

  // A seed counts once for the same chains, though several runs measured or kept other things of them: as in tables, by the first run that has a value.
  const distinct = (own, has) => {
    const first = new Map();
    for (const run of own) {
      const same = runs.same[run];
      if (!first.has(same) || (!has(first.get(same)) && has(run))) first.set(same, run);
    }
    return [...first.values()];
  };

  const span = (values) => {
    const n = values.length, mean = values.reduce((sum, each) => sum + each, 0) / n;
    // As few_seeds.py: of values that differ by rounding alone there is no interval.
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (high - low <= 8 * Number.EPSILON * Math.max(Math.abs(low), Math.abs(high))) return { mean, margin: 0, n };
    const sd = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1));
    return { mean, margin: (runs.t[n - 2] * sd) / Math.sqrt(n), n };
  };
  // As digits_apart in charts.py: of large values that differ little, more digits.
  const digitsApart = (lo, hi) => {
    const [width, largest] = [hi - lo, Math.max(Math.abs(lo), Math.abs(hi))];
    return width > 0 ? Math.max(5, Math.min(12, Math.floor(Math.log10(largest)) - Math.floor(Math.log10(width)) + 3)) : 5;
  };
  const median = (values) => {
    const sorted = [...values].sort((one, other) => one - other), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  const said = ({ mean, margin, n, of = n }) => {
    const number = of > n ? `n = ${n} of ${of}` : `n = ${n}`;
    if (!margin) return number;
    const ends = [mean - margin, mean + margin], digits = digitsApart(...ends);
    return `95 % interval ${ends.map((each) => each.toPrecision(digits)).join(" to ")}, ${number}`;
  };
  // A line of a sampler has its colour, and lines of one colour differ in dashes and markers, whose numbers have no common divisor.
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const MARKERS = ["circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross"];
  const LOOKS = DASHES.length * MARKERS.length;
  const turns = (tints) => tints.map((tint, place) => tints.slice(0, place).filter((each) => each === tint).length);
  const colours = (found, key) => {
    const made = [...groups(found, key)];
    const own = made.map(([, of]) => (new Set(of.map((run) => value("sampler", run))).size === 1 ? runs.colours[value("sampler", of[0])] : null));
    return new Map(made.map(([name], place) => [name, own.every(Boolean) ? own[place] : runs.inTurn[place % runs.inTurn.length]]));
  };
  const titled = (metric) => (runs.units[metric] ? `${metric} (${runs.units[metric]})` : metric);

  // Arrows as in the figures; the label of the vertical axis is turned, so that right is up.
  const axisOf = (metric) => {
    const arrow = { min: "<br>← better", max: "<br>better →" }[runs.directions[metric]] || "";
    return { title: { text: `${titled(metric)}${arrow}` } };
  };
  // An interval ends where the values end that the metric can have.
  const clipped = (metric, given) => {
    const [low, high] = runs.bounds[metric];
    return Math.min(Math.max(given, low ?? -Infinity), high ?? Infinity);
  };

  const errors = (metric, spans) => ({
    array: spans.map(({ mean, margin }) => Math.max(0, clipped(metric, mean + margin) - mean)),
    arrayminus: spans.map(({ mean, margin }) => Math.max(0, mean - clipped(metric, mean - margin))),
  });

  // A mean over some of the runs, where others failed, may be too good: its marker is hollow.
  const symbols = (spans, full = MARKERS[0]) => spans.map((each) => (each.of > each.n ? `${full}-open` : full));
  const hollow = (spans) => (spans.some((each) => each.of > each.n) ? ", hollow: runs without a value are left out" : "");

  const bars = (found, metric, key) => {
    const measured = (run) => runs.metrics[metric][run] !== null;
    let made = [...groups(found, key)].map(([name, all]) => [name, distinct(all, measured)])
      .map(([name, own]) => [name, own.filter(measured).map((run) => runs.metrics[metric][run]), own.length])
      .filter(([, values]) => values.length).map(([name, values, of]) => [name, { ...span(values), of }]);
    const all = made.length, sign = runs.directions[metric] === "max" ? -1 : 1;
    if (all > BARS) made = made.sort(([, one], [, other]) => sign * (one.mean - other.mean)).slice(0, BARS);
    const tint = colours(found, key), tints = made.map(([name]) => tint.get(name));
    const spans = made.map(([, each]) => each);
    const shown = (all > BARS ? `, the ${sign < 0 ? "largest" : "smallest"} ${BARS} of ${all} means` : "") + hollow(spans);
    return [[{
      type: "scatter", mode: "markers", orientation: "h", y: made.map(([name]) => name), x: spans.map((each) => each.mean),
      error_x: { type: "data", symmetric: false, ...errors(metric, spans), thickness: 1.5, width: 4 },
      marker: { color: tints, size: 10, symbol: symbols(spans) },
      customdata: spans.map(said),
      hovertemplate: "%{y}<br>%{x:.8~g}<br>%{customdata}<extra></extra>", showlegend: false,
    }], { xaxis: axisOf(metric), yaxis: { type: "category", range: [made.length - 0.5, -0.5] } }, shown];
  };

  const lines = (found, metric, key, along) => {
    const traces = [], drawn = [], made = [...groups(found, key)], tints = [...colours(found, key).values()], turn = turns(tints);
    const alike = turn.some((each) => each >= LOOKS) ? `, more than ${LOOKS} lines of one colour: some look alike, pointing at one names it` : "";
    const recorded = (run) => curves[runs.ids[run]]?.some((part) => part.values[metric]);
    made.forEach(([name, own], place) => {
      const points = new Map(), without = new Set();
      let lost = 0;
      for (const run of distinct(own, recorded)) {
        if (!recorded(run) && runs.metrics[metric][run] === null) lost += 1; // one with a value has only no points on the way
        for (const part of curves[runs.ids[run]] || []) {
          (part.values[metric] || []).forEach((given, index) => {
            if (given === null) { without.add(part.step[index]); return; } // the other seeds would be too good
            if (!points.has(part.step[index])) points.set(part.step[index], { x: [], y: [] });
            points.get(part.step[index]).x.push(part[along][index]);
            points.get(part.step[index]).y.push(given);
          });
        }
      }
      without.forEach((step) => points.delete(step));
      if (!points.size) return;
      const sorted = [...points].sort(([one], [other]) => one - other).map(([, each]) => each);
      // A run that was paused moves the mean of seconds, not their median.
      const x = sorted.map((each) => (along === "seconds" ? median(each.x) : span(each.x).mean)), spans = sorted.map((each) => span(each.y)).map((each) => ({ ...each, of: each.n + lost }));
      drawn.push(...spans);
      const tint = tints[place], end = (sign) => spans.map((each) => clipped(metric, each.mean + sign * each.margin));
      const edge = { type: "scatter", mode: "lines", x, line: { width: 0, color: tint }, hoverinfo: "skip", showlegend: false, legendgroup: name };
      if (spans.every((each) => each.n > 1)) traces.push({ ...edge, y: end(-1) }, { ...edge, y: end(1), fill: "tonexty", fillcolor: `${tint}26` });
      traces.push({ type: "scatter", mode: "lines+markers", name, legendgroup: name, x, y: spans.map((each) => each.mean), line: { color: tint, width: 2, dash: DASHES[turn[place] % DASHES.length] }, marker: { symbol: symbols(spans, MARKERS[turn[place] % MARKERS.length]), size: 7 },
        customdata: spans.map(said), meta: name, hovertemplate: "%{meta}<br>%{x}: %{y:.8~g}<br>%{customdata}<extra></extra>" });
    });
    return [traces, { xaxis: { title: { text: runs.along[along] } }, yaxis: axisOf(metric) }, hollow(drawn) + alike];
  };

  const parallel = (found, metric) => {
    const own = found.filter((run) => runs.metrics[metric][run] !== null);
    const dimensions = varied(own).map((key) => {
      const values = own.map((run) => value(key, run));
      const few = [...new Set(values)];
      if (values.every((each) => typeof each === "number")) return { label: key, values, ...(few.length <= 8 ? { tickvals: few } : {}) };
      const names = [...new Set(values.map(text))].sort((one, other) => one.localeCompare(other, undefined, { numeric: true }));
      return { label: key, values: values.map((each) => names.indexOf(text(each))), tickvals: names.map((_, place) => place), ticktext: names };
    });
    const measured = own.map((run) => runs.metrics[metric][run]);
    dimensions.push({ label: titled(metric), values: measured });
    return [[{ type: "parcoords", dimensions, line: { color: measured, colorscale: "Viridis", showscale: true }}],
      { margin: { l: 90, r: 60, t: 60, b: 30 } }];
  };

  // Curves are in files of a few runs each, which are loaded when they are drawn.
  const load = (found) => Promise.all([...new Set(found.map((run) => runs.ids[run].slice(0, 2)))].filter((shard) => runs.shards.includes(shard)).map((shard) => {
    if (!asked.has(shard)) {
      asked.set(shard, new Promise((done) => {
        const script = Object.assign(document.createElement("script"), { src: `data/curves/${shard}.js`, onload: done, onerror: done });
        document.head.append(script);
      }));
    }
    return asked.get(shard);
  }));
  rungwise.curves = (shard, content) => Object.assign(curves, content);

  const draw = async (found) => {
    const metric = at("metric").value, view = at("view").value, group = at("group").value;
    at("along-label").hidden = view !== "curves";
    at("logy").parentElement.hidden = view !== "curves";
    for (const name of ["logx", "group"]) at(name).parentElement.hidden = view === "parallel";
    let traces, layout, note = "";
    if (view === "curves") {
      await load(found.slice(0, MANY));
      [traces, layout, note] = lines(found.slice(0, MANY), metric, group, at("along").value);
    } else [traces, layout, note = ""] = view === "parallel" ? parallel(found, metric) : bars(found, metric, group);
    const some = view === "parallel" ? traces[0].dimensions[0].values.length : traces.some((trace) => trace.y.length);
    at("caption").textContent = some ? `${titled(metric)}${runs.directions[metric] ? `, ${runs.directions[metric] === "min" ? "lower" : "higher"} is better` : ""}${note}`
      : view === "curves" ? "None of these runs recorded this metric along the way (task.record=N does)." : "None of these runs has this metric.";
    at("plot").hidden = !some;
    if (!some) return;
    const full = rungwise.layout(layout, at("logx").checked, at("logy").checked && view !== "bars");
    if (view === "bars") full.height = Math.max(300, 90 + 28 * traces[0].y.length);
    if (layout.margin) full.margin = layout.margin;
    if (view !== at("plot").dataset.view) Plotly.purge(at("plot"));
    at("plot").dataset.view = view;
    await rungwise.draw(at("plot"), traces, full);
    at("plot").setAttribute("role", "group");
    at("plot").setAttribute("aria-label", at("caption").textContent);
  };

  const list = async (found) => {
    const { default: DataTable } = await window.rungwiseTables;
    const metric = at("metric").value, keys = ["status", "sampler", "target", ...varied(found).filter((key) => !["sampler", "target"].includes(key)), "seed"];
    table?.destroy();
    const node = at("listed");
    node.replaceChildren();
    const link = (id, kind) => (kind === "display" ? `<a href="runs/${id}.html">${id.slice(0, 8)}</a>` : id);
    const columns = [{ title: "Run", render: link }, ...[...keys, metric].map((title) => ({ title, defaultContent: "", render: DataTable.render.text() }))];
    const data = found.slice(0, LISTED).map((run) => [runs.ids[run], ...keys.map((key) => text(value(key, run))), runs.metrics[metric]?.[run] ?? ""]);
    table = new DataTable(node, { data, columns, deferRender: true, searching: false, pageLength: 20, order: [], autoWidth: false, layout: { topStart: null, topEnd: null } });
  };

  const show = () => {
    const { conditions } = state();
    const found = chosen(conditions);
    const given = Object.entries(conditions).map(([key, values]) => `${key}=${values.join(",")}`).join(" ");
    const unknown = Object.keys(conditions).filter((key) => !runs.keys[key]);
    const why = unknown.length ? `: no run has the setting${unknown.length > 1 ? "s" : ""} ${unknown.join(", ")}` : "";
    at("found").textContent = found.length ? `${found.length} of ${runs.ids.length} runs${found.length > MANY && at("view").value === "curves" ? `, the first ${MANY} are drawn` : ""}`
      : `${runs.ids.length === 1 ? "The only run does not fit" : `None of the ${runs.ids.length} runs fits`} ${given}${why}.`;
    const { metric } = state();
    const known = Object.keys(runs.metrics).filter((name) => found.some((run) => runs.metrics[name][run] !== null));
    known.sort((one, other) => (other in runs.directions) - (one in runs.directions));
    options(at("metric"), known.map((name) => [name, titled(name)]), known.includes(at("metric").value) ? at("metric").value : metric);
    const by = state().group;
    options(at("group"), [["all", "variant"], ...["sampler", "target", ...varied(found)].filter((key, place, every) => every.indexOf(key) === place).map((key) => [key, key])], at("group").value || by || "all");
    keep(conditions);
    return Promise.all([known.length ? draw(found) : Plotly.purge(at("plot")), list(found)]).then(() => { document.documentElement.dataset.ready = "1"; });
  };

  const field = (key, ticked) => {
    const box = document.createElement("fieldset"), name = document.createElement("legend");
    name.textContent = key;
    box.append(name);
    box.dataset.key = key;
    const counts = new Map();
    ticked.forEach((given) => counts.set(given, 0)); // also one that no run has
    runs.ids.forEach((_, run) => every(key, run).map(text).forEach((given) => counts.set(given, (counts.get(given) || 0) + 1)));
    for (const [given, number] of [...counts].sort(([one], [other]) => one.localeCompare(other, undefined, { numeric: true })).slice(0, 200)) {
      const label = document.createElement("label");
      const tick = Object.assign(document.createElement("input"), { type: "checkbox", value: given, checked: ticked.includes(given) });
      const named = key === "sweep" ? (runs.commands[given] || given).replace("__main__.py ", "") : given;
      label.append(tick, ` ${named} (${number})`);
      box.append(label);
    }
    at("filters").append(box);
  };

  const fields = () => {
    const { conditions } = state();
    at("filters").replaceChildren();
    const keys = [...new Set([...FIRST, ...Object.keys(conditions)])];
    for (const key of keys) if (runs.keys[key]?.values.length > 1 || conditions[key]) field(key, conditions[key] || []);
    const left = Object.keys(runs.keys).filter((key) => !keys.includes(key) && runs.keys[key].values.length > 1).sort();
    options(at("more"), [["", "choose a setting"], ...left.map((key) => [key, key])], "");
  };

  const ticked = () => Object.fromEntries([...at("filters").children].map((box) =>
    [box.dataset.key, [...box.querySelectorAll("input:checked")].map((each) => each.value)]));

  rungwise.runs = (content) => {
    runs = content;
    document.addEventListener("DOMContentLoaded", () => {
      const start = () => {
        const { view, along, logx, logy, metric, group } = state();
        options(at("along"), Object.entries(runs.along), along || "step");
        if (view) at("view").value = view;
        if (metric) options(at("metric"), [[metric, metric]], metric);
        if (group) options(at("group"), [[group, group]], group);
        at("logx").checked = logx === "1";
        at("logy").checked = logy === "1";
        fields();
        show();
      };
      at("filters").addEventListener("change", () => { keep(ticked()); show(); });
      at("more").addEventListener("change", () => { field(at("more").value, []); at("more").options[at("more").selectedIndex].remove(); });
      at("clear").addEventListener("click", () => { keep({}); fields(); show(); });
      for (const name of ["view", "metric", "along", "group", "logx", "logy"]) at(name).addEventListener("change", () => { keep(ticked()); show(); });
      // The conditions stand behind the # of the address, where the link to the content would take their place.
      at("skip").addEventListener("click", (event) => { event.preventDefault(); at("main").focus(); });
      window.addEventListener("hashchange", start);
      start();
    });
  };
})();
