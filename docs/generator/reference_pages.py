"""The reference pages: one for each group of conf/, made from its YAML files and the docstrings behind them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

from docs.generator.docstrings import Docstring, cell, docstring, located, markdown, module_note
from docs.generator.measured_exactness import Exactness
from docs.generator.yaml_files import Key, all_keys, content, header

SETTINGS = "../papers/settings.md"


def names(conf: Path, group: str) -> list[str]:
    """The names that a group offers."""
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def samplers(conf: Path, exactness: dict[str, Exactness]) -> str:
    """The page of samplers."""
    rows, sections = [], []
    for name in names(conf, "sampler"):
        thing, described = _described(conf, "sampler", name)
        found = exactness.get(name, Exactness())
        summary = header(conf / "sampler" / f"{name}.yaml") or described.summary
        kernel = _inner_kernel(conf, name)
        if kernel and not header(conf / "sampler" / f"{name}.yaml"):
            summary = f"{type_name(thing)} around {type_name(kernel)}. {described.summary}"
        rows.append(f"| [`{name}`](#{name}) | {cell(summary)} | {_spaces(found)} | {_claim(found)} |")
        sections.append(
            _section(name, "sampler", thing, described, all_keys(conf, "sampler", name), _proof(found), kernel)
        )
    return _page(
        "Samplers",
        "Choose one with `sampler=NAME`; a key below is `sampler.KEY=VALUE` on the command line. "
        "*Spaces* lists the kinds of state space on which the sampler was run by enumeration. *Exact* says "
        "whether it leaves the target distribution invariant; inexact samplers carry a dagger (†) in every table. "
        "[What exact means](../audit.md#exactness).",
        "| name | what it does | spaces | exact |\n| :-- | :-- | :-- | :-- |",
        rows,
        sections,
    )


def targets(conf: Path) -> str:
    """The page of targets."""
    rows, sections = [], []
    for name in names(conf, "target"):
        thing, described = _described(conf, "target", name)
        summary = header(conf / "target" / f"{name}.yaml") or described.summary
        rows.append(f"| [`{name}`](#{name}) | {cell(summary)} | {_capabilities(thing)} |")
        sections.append(_section(name, "target", thing, described, all_keys(conf, "target", name)))
    return _page(
        "Targets",
        "Choose one with `target=NAME`; a key below is `target.KEY=VALUE` on the command line. *Offers* lists what "
        "a target can do besides giving a log density: metrics and reference samplers that need it say so. Exact probabilities are "
        "there only at sizes at which the states can be listed.",
        "| name | what it is | offers |\n| :-- | :-- | :-- |",
        rows,
        sections,
    )


def metrics(conf: Path) -> str:
    """The page of metrics."""
    rows, sections = [], []
    optional = content(conf / "metric" / "standard.yaml").get("_optional_", [])
    for name in names(conf, "metric"):
        entry = content(conf / "metric" / f"{name}.yaml").get(name)
        if not isinstance(entry, dict):
            continue
        thing = located(entry["_target_"])
        described = docstring(thing)
        better = {"min": "smaller", "max": "larger"}.get(getattr(thing, "direction", None) or "", "-")
        unit = getattr(thing, "unit", "") or "-"
        rows.append(
            f"| [`{name}`](#{name}) | {cell(described.summary)} | {cell(unit)} | {better} | "
            f"{'yes' if name in optional else ''} |"
        )
        settings = [
            Key(key.path.removeprefix(f"{name}."), key.default, key.comment)
            for key in all_keys(conf, "metric", name)
            if key.path.startswith(f"{name}.") and not key.path.endswith("_target_")
        ]
        note = module_note(thing)
        extra = markdown(note, SETTINGS) if note and note != described.body else ""
        sections.append(_section(name, f"metric.{name}", thing, described, settings, extra))
    return _page(
        "Metrics",
        "`metric=standard` (the default) measures every metric marked *standard* that the target and the sampler "
        "can serve. `metric=tv` or `metric=[tv,kl]` names others; a metric that is named and cannot be measured is "
        "an error. A key below is `metric.NAME.KEY=VALUE`. Every metric is tested against a brute-force "
        "computation of the same quantity.",
        "| name | what it measures | unit | better | standard |\n| :-- | :-- | :-- | :-- | :-- |",
        rows,
        sections,
    )


def tasks(conf: Path) -> str:
    """The page of tasks."""
    rows, sections = [], []
    for name in names(conf, "task"):
        summary = header(conf / "task" / f"{name}.yaml")
        rows.append(f"| [`{name}`](#{name}) | {cell(summary)} |")
        target = content(conf / "task" / f"{name}.yaml").get("_target_")
        thing = located(target) if target else None
        described = docstring(thing) if thing else Docstring(summary)
        sections.append(_section(name, "task", thing, described, all_keys(conf, "task", name)))
    scales = [content(conf / "scale" / f"{name}.yaml") for name in ("smoke", "quick", "paper")]
    fields = [field for field in scales[0] if field != "name"]
    budget = ["| key | smoke | quick | paper |", "| :-- | --: | --: | --: |"]
    budget += [f"| `scale.{field}` | " + " | ".join(f"{s[field]:,}" for s in scales) + " |" for field in fields]
    return _page(
        "Tasks",
        "A task is what a run does. Choose one with `task=NAME`; a key below is `task.KEY=VALUE`. "
        "A default such as `${scale.steps}` is taken from the scale, `${share:0.2,${task.steps}}` is a fraction of "
        "another key.\n\n## Scales\n\n`scale=smoke|quick|paper` sets the budget of a run:\n\n" + "\n".join(budget),
        "| name | what it does |\n| :-- | :-- |",
        rows,
        sections,
    )


def data_sets(conf: Path) -> str:
    """The page of image sets and tables."""
    rows, tabular = [], []
    for name in names(conf, "dataset"):
        entry = content(conf / "dataset" / f"{name}.yaml")
        height, width = entry["shape"]
        forms = "; ".join(
            f"{form['train']:,} / {form['validation']:,} / {form['test']:,}" + (f" ({form['note']})" if form["note"] else "")
            for form in entry["variants"]
        )
        summary = cell(header(conf / "dataset" / f"{name}.yaml"))
        rows.append(f"| `{name}` | {summary} | {height} x {width} | `{entry['binarisation']}` | {cell(forms)} |")
    for name in names(conf, "tabular"):
        entry = content(conf / "tabular" / f"{name}.yaml")
        forms = "; ".join(
            f"{form['train']:,} / {form['test']:,}" + (f" ({form['note']})" if form.get("note") else "")
            for form in entry.get("variants", [])
        )
        tabular.append(f"| `{name}` | {cell(header(conf / 'tabular' / f'{name}.yaml'))} | {cell(forms)} |")
    return "\n".join(
        [
            "# Data sets",
            "",
            "Data sets are looked for below `DATA_ROOT` (environment) or `data.root=DIR`. [Restricted Boltzmann "
            "machines](../guides/rbm.md#data-sets) says how a missing one is downloaded and what is refused.",
            "",
            "## Images",
            "",
            "`target.dataset=NAME` of the targets `rbm` and `resnet_ebm`. *Images* are the numbers of training, "
            "validation and test images of each known form of the set.",
            "",
            "| name | what it is | pixels | binarisation | images |",
            "| :-- | :-- | :-- | :-- | :-- |",
            *rows,
            "",
            "## Tables",
            "",
            "`target.tabular=NAME` of the target `binary_bnn`. *Rows* are the numbers of training and test rows.",
            "",
            "| name | what it is | rows |",
            "| :-- | :-- | :-- |",
            *tabular,
            "",
        ]
    )


def experiments(conf: Path) -> str:
    """The page of experiments: the tables and figures that one command computes."""
    sections, rows = [], []
    for name in names(conf, "experiment"):
        entry = content(conf / "experiment" / f"{name}.yaml")
        table, sweep = entry["table"], entry.get("sweep", {})
        target = name.replace("_", "-")
        rows.append(f"| [`{name}`](#{name}) | {cell(table['title'])} | `make {target}` |")
        lines = [f"## {name} {{ #{name} }}", "", f"**{table['title']}**", ""]
        lines += [markdown(str(table.get("caption", "")).strip(), SETTINGS), ""]
        labels = list(dict.fromkeys(str(row["row"]) for row in sweep.get("rows", [])))
        shown = list(dict.fromkeys(str(metric.get("name", metric["metric"])) for metric in table.get("metrics", [])))
        grid = {key: values for key, values in (sweep.get("grid") or {}).items()}
        if grid:
            lines += ["Columns: " + "; ".join(f"`{key}` over {_listed(values)}" for key, values in grid.items()) + ".", ""]
        if labels:
            lines += ["Rows: " + "; ".join(cell(label) for label in labels) + ".", ""]
        if shown:
            lines += ["Measured: " + "; ".join(cell(one) for one in shown) + ".", ""]
        lines += ["```bash", f"make {target}", f"python -m runner -m +experiment={name} scale=smoke", "```", ""]
        sections.append("\n".join(lines))
    return _page(
        "Experiments",
        "An experiment is one YAML file: the runs of a table of a paper, and the shape of that table. "
        "[Write your own](../extend/experiment.md). [Recorded results](../results/index.md).",
        "| name | table | command |\n| :-- | :-- | :-- |",
        rows,
        sections,
    )


def _listed(values: Any) -> str:
    several = values if isinstance(values, list) else [values]
    return ", ".join(f"`{value}`" for value in several)


def type_name(thing: Any) -> str:
    """The name of a class or function in code style."""
    return f"`{thing.__name__}`"


def _described(conf: Path, group: str, name: str) -> tuple[Any, Docstring]:
    dotted = _target_of(conf, group, name)
    thing = located(dotted)
    return thing, docstring(thing)


def _target_of(conf: Path, group: str, name: str) -> str:
    """The ``_target_`` of a configuration, its own or that of a file that it includes."""
    entry = content(conf / group / f"{name}.yaml")
    if "_target_" in entry:
        return str(entry["_target_"])
    for line in entry.get("defaults", []):
        pairs = line.items() if isinstance(line, dict) else [("", line)]
        for folder, value in pairs:
            included = str(folder).split("@")[0].removeprefix("/").removeprefix("override ") or group
            if value != "_self_" and (conf / included / f"{value}.yaml").exists():
                return _target_of(conf, included, str(value))
    raise LookupError(f"conf/{group}/{name}.yaml names no class")


def _inner_kernel(conf: Path, name: str) -> Any:
    kernel = content(conf / "sampler" / f"{name}.yaml").get("kernel")
    return located(kernel["_target_"]) if isinstance(kernel, dict) and "_target_" in kernel else None


def _spaces(found: Exactness) -> str:
    if any("on the reals" in reason for reason in found.reasons):
        return "real"
    if any("continuous variable" in reason for reason in found.reasons):
        return "binary, ordinal, categorical"
    if found.spaces == ["RBM"]:
        return "RBMs"
    return ", ".join(space for space in found.spaces if space != "RBM") or "models with a reference sample"


def _claim(found: Exactness) -> str:
    return "yes" if found.claimed else "no †"


def _proof(found: Exactness) -> str:
    if found.error is not None:
        return f"Exact: max |pi P − pi| is {found.error:.1e} over all enumerated spaces and settings (`make exactness`)."
    if found.bias is not None:
        return (
            "Not exact: over the enumerated spaces and settings, the total variation between its own stationary "
            f"distribution and the target is at most {found.bias:.3f} (`make exactness`)."
        )
    if found.reasons:
        start = "Claims to be exact; not" if found.claimed else "Not exact. Not"
        return f"{start} enumerated: {markdown(found.reasons[0], SETTINGS)}."
    return ""


CAPABILITIES = {
    "probabilities": "exact probabilities",
    "sample": "exact draws",
    "responsibilities": "modes",
    "noisy_log_prob": "minibatch estimates",
}
"""The member that shows a capability of `targets.target`, and its name on the page."""



def _capabilities(thing: Any) -> str:
    offering = thing if inspect.isclass(thing) else get_type_hints(thing).get("return", thing)
    listed = [text for member, text in CAPABILITIES.items() if hasattr(offering, member)]
    return ", ".join(dict.fromkeys(listed))


def _section(
    name: str, prefix: str, thing: Any, described: Docstring, settings: list[Key], extra: str = "", kernel: Any = None
) -> str:
    lines = [f"## {name} {{ #{name} }}", ""]
    if described.summary:
        lines += [markdown(described.summary, SETTINGS), ""]
    if described.body:
        lines += [markdown(described.body, SETTINGS), ""]
    if kernel is not None:
        inner = docstring(kernel)
        lines += [f"Inside it, {type_name(kernel)}: {markdown(inner.summary, SETTINGS)}", ""]
        if inner.body:
            lines += [markdown(inner.body, SETTINGS), ""]
    if extra:
        lines += [extra, ""]
    if settings:
        arguments = {**(docstring(kernel).sections.get("Args", {}) if kernel else {}), **described.sections.get("Args", {})}
        lines += ["| key | default | meaning |", "| :-- | :-- | :-- |"]
        for key in settings:
            meaning = key.comment or arguments.get(key.path.rsplit(".", 1)[-1], "")
            default = f"`{key.default}`" if key.default else ""
            lines.append(f"| `{prefix}.{key.path}` | {default.replace('|', chr(92) + '|')} | {cell(meaning)} |")
        lines.append("")
    if thing is not None:
        lines += [f"Source: `{thing.__module__}.{thing.__qualname__}`", ""]
    return "\n".join(lines)


def _page(title: str, introduction: str, head: str, rows: list[str], sections: list[str]) -> str:
    return "\n".join([f"# {title}", "", introduction, "", head, *rows, "", *sections])
