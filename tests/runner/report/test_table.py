"""Tables from run folders on disk: what is counted, compared, printed, drawn and refused."""

from __future__ import annotations

import importlib.util
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from metrics.inference.few_seeds import holm, interval, paired_p_value
from runner import table as command
from runner.execution.errors import UserError
from runner.files.atomic_files import read_json, write_json
from runner.report import draw_figures
from runner.report.analysis.table_entries import Summary, summarise
from runner.report.budget import budget_sentence, cost_of_runs
from runner.report.page.latex import _digits, latex
from runner.report.page.latex_text import escape
from runner.report.page.layout import Label, Page, lay_out
from runner.report.page.markdown import markdown
from runner.report.page.terminal import show_page
from runner.report.panels.lines import draw_against_columns
from runner.report.published import published_numbers
from runner.report.recorded.record import record
from runner.report.recorded.seed_values import SEEDS, read_seed_values
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.runs.unmeasured import unmeasured
from runner.report.table_shape import TableShape, table_shape
from runner.site.content.recorded_table import read_page
from runner.store.folder_digests import damaged_files
from runner.store.run_store import Store
from tests.support.tables import panel_data, shape_from

BLOCK = """
title: A small table
caption: For the tests.
published:
  file: pt_dlp.csv
  versions:
    v1: {paper: pt-v1, table: Table 1}
    v2: {paper: pt-v2, table: Table 1}
rows:
  - {row: A, published: {v1: DMALA, v2: DMALA}}
  - {row: B, published: {v1: PTDLP, v2: PT-DMALA}, note: What B is.}
  - {row: C}
  - {row: fixed, role: variant}
  - {row: exact draws, role: draws}
columns:
  - {label: eight, where: {target: mog, target.components: 8}, published: MoG c=8}
  - {label: sixteen, where: {target: mog, target.components: 16}, published: MoG c=16}
metrics:
  - metric: mmd_exact
    name: MMD²
    direction: min
    scale: 1.0e-3
    published: {v1: MMD, v2: MMD}
    published_notes: {v1: Two unrelated feature maps.}
  - {metric: emc, name: EMC, direction: max}
figures:
  - name: figure
    across: 3
    panels:
      - {kind: intervals, title: eight, columns: [eight], metric: mmd_exact}
      - {kind: against_columns, title: EMC, columns: [eight, sixteen], metric: emc, x: target.components}
      - {kind: against_steps, title: curve, columns: [eight], metric: emc}
  - name: heat_maps
    across: 2
    roles: []
    panels:
      - {kind: heat_map, title: target, columns: [eight]}
      - {kind: heat_map, title: A, row: A, columns: [eight]}
"""

VALUES: dict[str, list[float]] = {
    "A": [2.0e-3, 2.4e-3, 2.1e-3],
    "B": [0.5e-3, 0.6e-3, 0.4e-3],
    "C": [0.1e-3, 0.1e-3, 0.2e-3],
    "fixed": [0.3e-3, 0.2e-3, 0.4e-3],
    "exact draws": [0.05e-3, 0.06e-3, 0.04e-3],
}


BUDGET = {"steps": 50, "chains": 4, "burn_in": 10, "start": "uniform", "record": 0}
COMMIT = {"commit": "abc", "dirty": False}


@dataclass(frozen=True)
class Job:
    row: str
    config: DictConfig
    run_ids: Mapping[int, str]


def job(row: str, components: int, seeds: int = 3) -> Job:
    target = {"name": "mog", "_target_": "targets.synthetic.mixture_of_gaussians.MixtureOfGaussians"}
    config = {
        "target": {**target, "components": components},
        "sampler": {"name": row},
        "task": {"name": "sample", "_target_": "runner.tasks.sample_task.Sample", **BUDGET},
        "scale": {"name": "smoke"},
    }
    run_ids = {seed: f"{row}-{components}-{seed}".replace(" ", "-") for seed in range(seeds)}
    return Job(row, OmegaConf.create(config), run_ids)


def finish(store: Store, run_id: str, seed: int, value: float, *, exact: bool) -> None:
    """Writes a finished run in the store's format."""
    folder = store.run(run_id)
    folder.prepare()
    summary = {
        "status": "done", "run_id": run_id, "seed": seed, "seconds": 2.0, "steps": 50, "evaluations": 50,
        "metrics": {"mmd_exact": value, "emc": 1 - 10 * value, "evaluations": 50.0}, "exact": exact,
        "tuning": {"seconds": 1.5, "evaluations": 40, "artefact": run_id[:-2]},
    }  # fmt: skip
    rows = [
        {"step": n, "seconds": 0.1, "evaluations": n, "metric": "emc", "value": n / 50 + 0.01 * seed}
        for n in (1, 10, 50)
    ]
    folder.finish(rows, summary, {"git": COMMIT, "device": {"type": "cpu"}}, {})


@pytest.fixture
def shape() -> TableShape:
    return shape_from(BLOCK)


@pytest.fixture
def jobs() -> list[Job]:
    return [job(row, components) for row in VALUES for components in (8, 16)]


@pytest.fixture
def store(tmp_path: Path, jobs: list[Job]) -> Store:
    """All runs of `eight` are done; of `sixteen` only A, and of it seed 2 failed. C is not exact."""
    store = Store(tmp_path / "outputs")
    for one in jobs:
        for seed, run_id in one.run_ids.items():
            if one.config.target.components == 16 and (one.row != "A" or seed == 2):
                continue
            finish(store, run_id, seed, VALUES[one.row][seed], exact=one.row != "C")
    failed = store.run("A-16-2")
    failed.prepare()
    failed.fail({"error": "no luck"})
    return store


@pytest.fixture
def results(shape: TableShape, jobs: list[Job], store: Store) -> Results:
    return gather("small", shape, jobs, store)


@pytest.fixture
def summary(shape: TableShape, results: Results) -> Summary:
    return summarise(shape, results, published_numbers(shape))


@pytest.fixture
def page(shape: TableShape, summary: Summary, results: Results) -> Page:
    return lay_out(shape, summary, results, budget_sentence(results), "python -m runner -m +experiment=small")


def test_every_run_of_the_store_counts_and_none_is_hidden(results: Results) -> None:
    assert (results.done, results.expected) == (17, 30)
    assert results.counts == {"done": 17, "failed": 1, "missing": 12}
    assert results.values("A", "sixteen", "mmd_exact") == {0: 2.0e-3, 1: 2.4e-3}
    assert results.values("B", "sixteen", "mmd_exact") == {}


def test_the_best_is_the_best_exact_sampler_and_the_others_are_tested_against_it(summary: Summary) -> None:
    """C is better but not exact, fixed and the exact draws are better but do not compete; EMC is to rise."""
    entries = {row: summary.at("mmd_exact", row, "eight") for row in VALUES}
    assert summary.at("emc", "B", "eight").best
    assert summary.at("emc", "fixed", "eight").beats_best
    assert [row for row, entry in entries.items() if entry.best] == ["B"]
    series = {row: dict(enumerate(values)) for row, values in VALUES.items()}
    pairs = [("A", "B"), ("C", "B"), ("A", "C")]
    expected = holm([paired_p_value(series[one], series[other]) for one, other in pairs])[:2]
    assert [entries["A"].p_value, entries["C"].p_value] == pytest.approx(expected)
    assert [entries[row].p_value for row in ("B", "fixed", "exact draws")] == [None] * 3
    assert [row for row, entry in entries.items() if entry.beats_best] == ["fixed"]
    assert entries["A"].interval == interval(VALUES["A"])


def test_the_mark_of_no_significant_difference_says_which_pairs_are_counted(page: Page) -> None:
    """A, B and C have three pairs; were A not exact either, its pair with C would not count."""
    (said,) = [sentence for sentence in page.legend if sentence.startswith("~")]
    assert (
        "Holm-adjusted over all pairs that have a test and a sampler that claims to be exact, since" in said
    )


def test_the_frame_is_in_raw_units_beside_the_published_numbers(summary: Summary, shape: TableShape) -> None:
    frame = summary.frame(shape).set_index(["metric", "row", "cell"])
    b = frame.loc["mmd_exact", "B", "eight"]
    assert b["mean"] == pytest.approx(0.5e-3)
    assert b["published_v1"] == pytest.approx(1.996)
    assert b["published_v2"] == pytest.approx(0.534e-3)
    assert b["published_v2_sd"] == pytest.approx(0.015e-3)
    assert (b["n"], b["runs"], b["runs_expected"], bool(b["exact"])) == (3, 3, 3, True)
    missing = frame.loc["mmd_exact", "B", "sixteen"]
    assert (missing["n"], missing["runs"], missing["runs_expected"]) == (0, 0, 3)
    assert pd.isna(missing["mean"])
    assert len(frame) == 2 * 5 * 2


def test_a_run_without_a_value_is_left_out_and_said(shape: TableShape, jobs: list[Job], store: Store) -> None:
    path = store.run("B-8-1").path / "summary.json"
    content = read_json(path) or {}
    content["metrics"]["mmd_exact"] = None
    write_json(path, content)
    left = summarise(shape, gather("small", shape, jobs, store), published_numbers(shape))
    entry = left.at("mmd_exact", "B", "eight")
    assert entry.interval is not None
    assert (entry.interval.n, entry.runs, entry.expected) == (2, 3, 3)


def test_markdown(page: Page) -> None:
    text = markdown(page)
    assert "**MMD², unit 10⁻³, lower is better**" in text
    header, _, *lines = (
        text.split("**MMD², unit 10⁻³, lower is better**\n\n")[1].split("\n\n")[0].splitlines()
    )
    assert header == "|  | eight | v1ᵃ, unit 1 | v2 | sixteen | v1ᵃ, unit 1 | v2 |"
    cells = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}
    assert cells["A"][:3] == ["2.17 ± 0.52", "2.077 ± 0.022", "1.214 ± 0.058"]
    assert cells["A"][3].endswith("(n=2 of 3)")
    assert cells["Bᵇ"][0] == "**0.50 ± 0.25**"
    assert cells["Bᵇ"][3] == "-"
    assert "C†" in cells
    assert cells["fixed"][0].endswith("‡")
    assert "17 of 30 runs are done (1 failed, 12 missing)." in text
    assert "`python -m runner -m +experiment=small`" in text
    assert "- ᵃ Two unrelated feature maps." in text
    assert len({line.count("|") for line in [header, *lines]}) == 1


def test_latex_is_balanced_and_escaped(page: Page) -> None:
    text = latex(page)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    assert r"$\mathbf{0.50 \pm 0.25}$" in text
    assert r"C$^{\dagger}$" in text
    assert "%" not in text.replace(r"\%", "").replace("{!}{%", "").replace(r"% needs", "")
    for block in text.split(r"\begin{tabular}")[1:]:
        columns = block[: block.index("\n")].strip("{}").replace("|", "")
        rows = [line for line in block.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert {line.count("&") + 1 for line in rows} == {len(columns)}
    for opening, closing in ("{}", "[]"):
        assert text.count(opening) == text.count(closing)


def test_latex_has_a_float_for_each_metric_and_sentences_outside_of_them(page: Page) -> None:
    """A float cannot break: in one for the whole page all below the first page was lost."""
    text = latex(page)
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == text.count(r"\caption{") == 2
    assert text.index("Two unrelated feature maps.") > text.rindex(r"\end{table*}")
    assert text.count(escape(page.caption)) == 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("β and Λ, 10⁻³ m²", r"$\beta$ and $\Lambda$, 10$^{-3}$ m$^{2}$"),
        ('a|b "as printed"', r"a\textbar{}b ``as printed''"),
        ("5 ± 2 → 10 — so…", r"5 $\pm$ 2 $\rightarrow$ 10 --- so\ldots{}"),
        ("One.\n\nTwo\nthree.", "One. Two three."),
        ("H₂ x₁₀ aₙ ∈ ∂x\N{PRIME}", r"H$_{2}$ x$_{10}$ a$_{n}$ $\in$ $\partial$x$'$"),
        ("Α Ω ο ς ϑ ά", r"$\mathrm{A}$ $\Omega$ $\mathrm{o}$ $\varsigma$ $\vartheta$ $\alpha$"),  # noqa: RUF001
        ("é ł µ 中", "é ł µ 中"),
        ("☃ x", "[snowman] x"),
    ],
)
def test_latex_of_signs(text: str, written: str) -> None:
    assert escape(text) == written


def test_commas_of_thousands_have_no_space_in_latex() -> None:
    assert _digits("12,345.6e-07") == r"12{,}345.6\times 10^{-7}"


def test_a_bar_in_a_label_divides_no_cell(page: Page) -> None:
    block = page.blocks[0]
    line = replace(block.lines[0], label=Label("a | b|c"))
    barred = replace(page, blocks=(replace(block, lines=(line, *block.lines[1:])), *page.blocks[1:]))
    text = markdown(barred)
    assert r"| a \| b\|c |" in text
    assert read_page(text, ("v1", "v2")).blocks[0].lines[0].label.text == "a | b|c"


def test_latex_makes_no_table_larger(page: Page) -> None:
    """A table of two columns was twice as large as its letters should be."""
    assert latex(page).count(r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%") == 2


@pytest.mark.parametrize("label", ["[1] Gibbs", "*none"])
def test_a_label_is_no_argument_of_a_latex_command(page: Page, label: str) -> None:
    r"""Both ``\\`` and ``\midrule`` take what follows in brackets, and ``\\`` an asterisk."""
    block = page.blocks[0]
    lines = [replace(line, label=Label(label), rule=True) for line in block.lines[:2]]
    text = latex(replace(page, blocks=(replace(block, lines=tuple(lines)),)))
    assert text.count(f"\n{{}}{label} & ") == 2
    assert f"\n{label}" not in text


def test_terminal_folds_nothing(page: Page) -> None:
    out = io.StringIO()
    show_page(page, out)
    (line,) = (line for line in out.getvalue().splitlines() if line.startswith("A ") and "2.17" in line)
    assert "2.077" in line
    assert "(n=2 of 3)" in line


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_narrow_terminal_has_every_number_in_full(
    page: Page, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that is too wide is printed in parts, each with the names of the rows."""
    whole = io.StringIO()
    show_page(page, whole)
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = partial(Console, force_terminal=True, color_system=None)
    monkeypatch.setattr("runner.report.page.terminal.Console", terminal)
    out = io.StringIO()
    show_page(page, out)
    shown = out.getvalue()
    assert "…" not in shown
    numbers = set(re.findall(r"\d+\.\d+", whole.getvalue()))
    assert numbers <= set(re.findall(r"\d+\.\d+", shown))
    if width >= 80:  # the sentences are folded by words, tables in parts
        assert max(map(len, shown.splitlines())) <= width


def test_where_nothing_can_be_bold_the_best_has_a_mark(page: Page) -> None:
    out = io.StringIO()
    show_page(page, out)
    best = [
        cell for block in page.blocks for line in block.lines for cell in line.cells if cell and cell.bold
    ]
    assert best
    assert out.getvalue().count("*") == len(best) + 1  # and in the legend
    assert "*: the best mean" in out.getvalue()
    assert "Bold" not in out.getvalue()


def test_a_table_without_runs_is_a_table_of_dashes(
    shape: TableShape, jobs: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = gather("small", shape, jobs, Store(tmp_path / "nothing"))
    page = lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "again")
    assert "0 of 30 runs are done (30 missing)." in markdown(page)
    assert "| C | - | - | - | - | - | - |" in markdown(page)
    monkeypatch.setattr(draw_figures, "DPI", 50)
    assert draw_figures.write_figures(shape, results, tmp_path)
    with pytest.raises(UserError, match="nothing to record"):
        record("small", "smoke", shape, results, [], tmp_path / "record")


def test_figures_are_the_same_bytes_from_the_same_runs(
    shape: TableShape, results: Results, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_figures, "DPI", 50)
    visits = np.zeros(101 * 101, dtype=np.int64)
    visits[5000] = 7
    np.savez(store.run("A-8-0").path / "visits.npz", visits=visits)
    first, second = (
        {path.name: path.read_bytes() for path in draw_figures.write_figures(shape, results, tmp_path)}
        for _ in range(2)
    )
    assert list(first) == ["figure.png", "figure.pdf", "heat_maps.png", "heat_maps.pdf"]
    assert first == second


def test_columns_stand_at_their_value_on_a_logarithmic_axis_too(results: Results, shape: TableShape) -> None:
    page, ax = pyplot.subplots()
    panel = {"metric": "emc", "x": "target.components", "log_x": True}
    draw_against_columns(ax, panel_data(shape, results, "eight", "sixteen", **panel))
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["8", "16"]
    assert not ax.get_xticks(minor=True).size
    places = {tuple(map(float, line.get_xdata())) for line in ax.lines if line.get_linestyle() != "None"}
    assert (8.0, 16.0) in places
    pyplot.close(page)


def test_record_keeps_the_table_its_seeds_and_how_it_was_measured(
    shape: TableShape, results: Results, tmp_path: Path
) -> None:
    rendered = tmp_path / "rendered"
    rendered.mkdir()
    again = "For the rest: `python -m runner{} scale=smoke{}`"
    files = [rendered / name for name in ("table.md", "figure.png", "scratch.tmp")]
    for path in files:
        path.write_text(again.format(" output_root=/tmp/o", " 'output_root=/tmp/my runs'"))
    given = ("scale=smoke", "target.dataset=digits,mnist", f"output_root={tmp_path}")
    folder = record("small", "smoke", shape, results, files, tmp_path / "record", given)
    assert json.loads((folder / "manifest.json").read_text())["overrides"] == ["target.dataset=digits,mnist"]
    kept = ["digests.json", "figure.png", "manifest.json", "seeds.csv", "table.md"]
    assert sorted(path.name for path in folder.iterdir()) == kept
    assert damaged_files(folder) == []
    assert (folder / "table.md").read_text() == again.format("", "")
    values = read_seed_values(folder / SEEDS)
    for (row, column, metric), by_seed in values.items():
        assert by_seed == pytest.approx(results.values(row, column, metric), rel=1e-8)
    assert {metric for _, _, metric in values} <= {metric.metric for metric in shape.metrics}
    assert max(map(len, values.values())) > 1
    (folder / "table.md").write_text("edited")
    assert damaged_files(folder) == ["table.md"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert folder.name == "small_smoke"
    counts = {"done": 17, "failed": 1, "missing": 12}
    assert manifest["runs"] == {"done": 17, "expected": 30, "by_status": counts}
    assert (manifest["git"], manifest["budget"]) == ([COMMIT], BUDGET)
    assert manifest["seconds"] == pytest.approx({"sampling": 17 * 2.0, "tuning": 6 * 1.5})


def test_the_cost_of_a_run_in_two_columns_is_counted_once(results: Results) -> None:
    twice = Results(results.runs + results.runs)
    assert cost_of_runs(twice)["seconds"] == cost_of_runs(results)["seconds"]
    assert (twice.done, twice.expected) == (results.done, results.expected)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (("title: A small table", "titel: A small table"), "titel"),
        (("direction: min", "direction: down"), "down"),
        (
            ("row: A, columns: [eight]", "row: D, columns: [eight]"),
            r"table.figures\[\d\].panels\[\d\].row names 'D', which is not among table.rows",
        ),
        (
            ("columns: [eight, sixteen]", "columns: [eight, ten]"),
            r"table.figures\[\d\].panels\[\d\].columns\[1\] names 'ten', which is",
        ),
        (
            ("metric: emc, x:", "metric: mce, x:"),
            r"panels\[\d\].metric names 'mce', which is not among table.metrics",
        ),
        (
            ("{v1: PTDLP,", "{v3: PTDLP,"),
            r"rows\[\d\].published names 'v3', which is not among table.published.versions. Allowed: v1",
        ),
        (
            ("{row: C}", "{row: B}"),
            r"table.rows\[2\].row is 'B', as that of table.rows\[1\] is; each needs its own",
        ),
        (("    name: MMD²\n", ""), "name"),
    ],
)
def test_a_block_with_a_mistake_is_refused_by_name(edit: tuple[str, str], sentence: str) -> None:
    assert edit[0] in BLOCK
    with pytest.raises(UserError, match=sentence) as error:
        table_shape("small", OmegaConf.create(BLOCK.replace(*edit)))
    assert "\n" not in str(error.value)


def test_jobs_that_fit_no_row_or_no_single_column_are_refused(shape: TableShape, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(UserError, match="row 'D' is not among"):
        gather("small", shape, [job("D", 8)], store)
    with pytest.raises(UserError, match=r"target=mog, target.components=4 fits no column"):
        gather("small", shape, [job("A", 4)], store)
    shape.columns[1].where = {"target": "mog"}
    with pytest.raises(
        UserError, match=r"fits the columns eight and sixteen \(table.columns\[0\].where, table.columns\[1\]"
    ):
        gather("small", shape, [job("A", 8)], store)


def test_a_metric_that_no_run_has_is_named_once_all_are_done(shape: TableShape, results: Results) -> None:
    done = Results(tuple(run for run in results.runs if run.status == "done"))
    assert unmeasured("small", shape, done) == []
    shape.metrics[1].metric = "ecm"
    (said,) = unmeasured("small", shape, done)
    asked = "Experiment small: table.metrics[1].metric is 'ecm', which no run has measured"
    assert said.startswith(f"{asked}; did you mean 'emc'? They have: ")
    assert unmeasured("small", shape, results) == []
    shape.metrics[1].rows = ["B"]
    assert unmeasured("small", shape, done) == [said]
    chosen = Results(tuple(run for run in done.runs if run.row != "B"))
    assert unmeasured("small", shape, chosen) == []


def test_two_runs_of_one_place_and_seed_are_refused(shape: TableShape, tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, more = job("A", 8, seeds=2), job("A", 8, seeds=3)
    assert [run.seed for run in gather("small", shape, [first, more], store).runs] == [0, 1, 2]
    other = replace(more, run_ids={2: "2", 1: "another"}, config=first.config.copy())
    other.config.sampler = {"name": "gibbs"}
    other.config.task.steps = 60
    said = r"row 'A' has two runs of seed 1 in the column 'eight', which differ in sampler \(A, gibbs\), "
    with pytest.raises(UserError, match=said + r"task.steps \(50, 60\); give a row of the sweep"):
        gather("small", shape, [first, other], store)
    assert len(gather("small", shape, [first, replace(other, row="B")], store).runs) == 4
    lists = replace(more, run_ids={1: "another"}, config=first.config.copy())
    lists.config.metric = {"ess": {"_target_": "metrics.ESS"}, "kl": {"_target_": "metrics.KL"}}
    first.config.metric = {"tv": {"_target_": "metrics.TV"}}
    said = r"differ in metric \(tv, ess and kl\); .* or quote a list .*: \"\[tv,ess\]\"\.$"
    with pytest.raises(UserError, match=said):
        gather("small", shape, [first, lists], store)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pt_tabel1"], "did you mean 'pt_table1'"),
        ([], "An experiment comes first"),
        (["scale=smoke"], "An experiment comes first"),
        (["pt_table1", "quick"], "key=value, 'quick' was given"),
        (["pt_table1", "--recrod"], "--recrod"),
    ],
)
def test_mistakes_in_a_command(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_rendering_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Through Hydra and the sweep; a key of the grid that the user gives replaces it there."""
    assert command.main(["pt_table4", "scale=smoke", "target.components=2", f"output_root={tmp_path}"]) == 0
    folder = tmp_path / "tables" / "pt_table4" / "smoke"
    parquet = {"table.parquet"} if importlib.util.find_spec("pyarrow") else set()
    assert {path.name for path in folder.iterdir()} == parquet | {
        "digests.json", "figure.pdf", "figure.png", "overrides.json", "table.csv", "table.md", "table.tex",
    }  # fmt: skip
    said = capsys.readouterr().out
    assert "0 of 12 runs are done (12 missing)." in said


def test_what_a_run_cost_can_stand_in_a_table(results: Results) -> None:
    run = results.at("A", "eight")[0]
    values = {"evaluations": 50.0, "seconds": 2.0, "tuning_evaluations": 40.0, "seconds_per_step": 2.0 / 50}
    assert {name: run.value(name) for name in values} == values
    assert run.value("rhat") is None


@pytest.mark.parametrize("flag", [None, "--record", "--extend"])
def test_the_flag_may_stand_anywhere(flag: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str], dict[str, bool]]] = []
    monkeypatch.setattr(command, "render", lambda name, lines, **flags: asked.append((name, lines, flags)))
    assert command.main(["pt_table1", *filter(None, [flag]), "a=1", "b=2"]) == 0
    flags = {"keep": flag == "--record", "extend": flag == "--extend"}
    assert asked == [("pt_table1", ["a=1", "b=2"], flags)]
