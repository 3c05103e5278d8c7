// Opens the page Compare without a browser: node compare_in_node.js REPORT HASH. Prints what it draws and says.
"use strict";

const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, hash] = process.argv.slice(2);

class Element {
  constructor() { Object.assign(this, { children: [], dataset: {}, value: "", checked: false }); }
  get parentElement() { return {}; }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) {
    this.children = children;
    const chosen = children.find((each) => each.selected) || children[0];
    if (chosen instanceof Option) this.value = chosen.value;
  }
  addEventListener(name, heard) { this[name] = heard; }
  focus() { focused = this; }
  setAttribute() {}
}
class Option {
  constructor(text, value, _, selected) { Object.assign(this, { text, value, selected }); }
}
class DataTable {
  static render = { text: () => null };
  destroy() {}
}

const elements = {}, drawn = [];
let focused = null, followed = true;
const run = (name) => vm.runInThisContext(fs.readFileSync(path.join(site, name), "utf8"), name);
Object.assign(globalThis, {
  Option, URLSearchParams,
  document: {
    getElementById: (id) => (elements[id] ??= new Element()),
    createElement: () => new Element(),
    addEventListener: (_, start) => start(),
    head: { append: (script) => { run(script.src); script.onload(); } },
    documentElement: new Element(),
  },
  window: { addEventListener() {}, rungwiseTables: Promise.resolve({ default: DataTable }) },
  location: { hash: `#${hash}` },
  history: { replaceState() {} },
  Plotly: { purge() {} },
  rungwise: { layout: (layout) => layout, draw: (_, traces) => drawn.push(...traces) },
});

run("assets/compare.js");
run("data/runs.js");
elements.skip?.click({ preventDefault() { followed = false; } });
const inputs = (box) => box.children.flatMap((label) => label.children).filter((each) => each.type === "checkbox");
const ticked = () => elements.filters.children.map((box) => [box.dataset.key, inputs(box).filter((each) => each.checked).map((each) => each.value).join(",")]);
process.on("exit", () => console.log(JSON.stringify({
  drawn, caption: elements.caption?.textContent ?? "", found: elements.found.textContent, skipped: !followed && focused === elements.main,
  ticked: Object.fromEntries(ticked().filter(([, given]) => given)),
})));
