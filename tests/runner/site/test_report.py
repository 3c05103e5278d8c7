"""The HTML report of a made-up store: its numbers are the table's, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from omegaconf import OmegaConf

from metrics.inference.few_seeds import interval
from runner import table
from runner.execution.command_line import with_config_dir
from runner.execution.reached import Reached
from runner.library.selected_runs import load_runs
from runner.report.experiment_shape import experiment_shape
from runner.report.figures.sampler_looks import look_of
from runner.report.page.latex import latex
from runner.report.page.markdown import markdown
from runner.site.build import Report
from runner.site.content.experiment_places import Place, places_of
from runner.site.content.recorded_table import read_page
from runner.site.index.plans import version_of_code
from runner.site.index.store_index import Index
from runner.site.pages.experiment_page import said_of_picture
from runner.site.pages.making_command import making
from runner.site.pages.reading_links import linked
from runner.site.pages.start_page import time_left
from runner.store.run_store import Store
from runner.store.under_way import note
from runner.tools.bench.report.synthetic_runs import synthetic_records, write_run
from tests.support.site.html_page import HtmlPage, TableCell, script_data
from tests.support.site.made_up_store import DAMAGED, FAILED, METRICS, TWIN, made_up_store
from tests.support.site.own_experiments import compute, experiments

RECORD = Path(__file__).parents[3] / "outputs" / "record"
EXPERIMENT = "experiments/made_up-smoke.html"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root, hydra = made_up_store(tmp_path_factory.mktemp("store"))
    (root / "record").mkdir()
    shutil.copytree(RECORD / "pt_table1_quick", root / "record" / "pt_table1_quick")
    made = Report(root, root / "report", hydra)
    made.build()
    return made


@pytest.fixture(scope="module")
def rendered(report: Report) -> pd.DataFrame:
    """The experiment's numbers as `runner.table` writes them."""
    folder = table.render("made_up", [*report.hydra, "scale=smoke", f"output_root={report.root}"])
    return pd.read_csv(folder / "table.csv")


def page(report: Report, name: str) -> HtmlPage:
    return HtmlPage(report.site.path / name)


def body(lines: list[list[TableCell]]) -> list[list[TableCell]]:
    """The lines of a table that hold numbers."""
    return [line for line in lines if any(cell.order is not None for cell in line)]


def numbers(rendered: pd.DataFrame, metric: str, row: str, column: str | None = None) -> pd.DataFrame:
    """The entries of a row, in one column or all."""
    found = rendered[(rendered["metric"] == metric) & (rendered["row"] == row)]
    return found if column is None else found[found["cell"] == column]


@pytest.mark.parametrize(("place", "metric", "scale"), [(0, "kl", 1e-2), (1, "emc", 1.0)])
def test_the_table_has_the_numbers_of_the_table_command(
    report: Report, rendered: pd.DataFrame, place: int, metric: str, scale: float
) -> None:
    lines = page(report, EXPERIMENT).tables[place]
    assert [cell.text for cell in lines[0]][1:] == ["eight", "sixteen"]
    rows = list(dict.fromkeys(rendered["row"]))
    assert len(body(lines)) == len(rows)
    for row, line in zip(rows, body(lines), strict=True):
        assert line[0].text.startswith(row)
        ours = [cell for cell in line[1:] if "published" not in cell.classes]
        for cell, column in zip(ours, ("eight", "sixteen"), strict=True):
            found = numbers(rendered, metric, row, column).iloc[0]
            assert float(cell.order or "nan") == pytest.approx(found["mean"] / scale, rel=1e-9)
            assert f"n = {found['n']:.0f}" in cell.hover
            ends = re.findall(r"interval (\S+) to (\S+),", cell.hover)
            assert len(ends) == (found["n"] > 1)
            for lo, hi in ends:
                wanted = (found["lo"] / scale, found["hi"] / scale)
                assert (float(lo), float(hi)) == pytest.approx(wanted, rel=1e-4)


def test_published_columns_are_marked_and_hold_what_was_printed(
    report: Report, rendered: pd.DataFrame
) -> None:
    line = body(page(report, EXPERIMENT).tables[0])[0]
    printed = [float(cell.order or "nan") for cell in line if "published" in cell.classes]
    found = numbers(rendered, "kl", "DMALA")
    wanted = [1e2 * found.iloc[place][f"published_{version}"] for place in (0, 1) for version in ("v1", "v2")]
    assert printed == pytest.approx(wanted)


def test_the_chart_has_the_same_means_intervals_and_seeds(report: Report, rendered: pd.DataFrame) -> None:
    intervals, along, _ = page(report, EXPERIMENT).data
    plot = intervals["plots"][0]
    assert plot["name"] == "KL <nats> & more"
    ours = {trace["name"]: trace for trace in plot["traces"] if not trace.get("published")}
    assert list(ours) == list(dict.fromkeys(rendered["row"]))
    for row, trace in ours.items():
        found = numbers(rendered, "kl", row)
        assert trace["x"] == list(found["cell"])
        assert trace["y"] == pytest.approx(list(found["mean"]), rel=1e-6)
        up = list((found["hi"] - found["mean"]).fillna(0.0))
        assert trace["error_y"]["array"] == pytest.approx(up, rel=1e-5)
        # KL is not negative: its intervals end at zero.
        assert all(
            mean >= down for mean, down in zip(trace["y"], trace["error_y"]["arrayminus"], strict=True)
        )
        assert [said.rpartition(" ")[2] for said in trace["customdata"]] == [f"{n}" for n in found["n"]]
    assert set(along["along"]) == {"step", "evaluations", "seconds"}
    assert along["plots"][0]["column"] == "eight"
    lines = [trace for trace in along["plots"][0]["traces"] if trace["mode"] != "lines"]
    assert len(lines) == len(ours)
    for trace in lines:
        found = numbers(rendered, "kl", trace["name"], "eight")
        assert trace["y"][-1] == pytest.approx(found.iloc[0]["mean"], rel=1e-6)


def test_statuses_are_those_on_disk(report: Report) -> None:
    start = page(report, "index.html")
    assert re.search(r"31 runs .* 28 done\s+1 failed\s+2 damaged", " ".join(start.text.split()))
    assert "15 done 1 missing" in " ".join(start.text.split())
    damaged, failed = page(report, f"runs/{DAMAGED}.html"), page(report, f"runs/{FAILED}.html")
    assert "Not as it was written: metrics.csv." in damaged.text
    assert "ValueError: no <b>good</b>" in failed.text
    assert not damaged.data
    assert not failed.data


def test_a_run_page_has_its_metrics_settings_and_curves(report: Report) -> None:
    run_id = next(
        run.run_id for run in report.index.runs.values() if run.done and run.experiment == "made_up"
    )
    run, shown = report.index.runs[run_id], page(report, f"runs/{run_id}.html")
    metrics = {line[0].text: float(line[1].order or "nan") for line in shown.tables[0][1:]}
    assert metrics == pytest.approx(run.metrics)
    settings = {line[0].text: line[1].text for line in shown.tables[1][1:]}
    assert settings["sampler"] == run.settings["sampler"]
    assert settings["seed"] == str(run.seed)
    curves = {plot["traces"][0]["name"]: plot["traces"][0]["y"] for plot in shown.data[0]["plots"]}
    assert set(curves) == set(METRICS)
    assert curves["kl"][-1] == pytest.approx(run.metrics["kl"], rel=1e-6)
    assert "rhat" in shown.text


def test_compare_gets_every_run_with_settings_metrics_and_curves(report: Report) -> None:
    (content,) = script_data(report.site.path / "data" / "runs.js")
    frame = load_runs(output_root=report.root).set_index("run_id")
    three = interval([0.0, 1.0, 2.0])
    assert three is not None
    assert len(content["ids"]) == 31
    for place, run_id in enumerate(content["ids"]):
        if run_id not in frame.index:
            continue
        own = frame.loc[run_id]
        for key in ("sampler", "target", "status", "seed", "sampler.step_size"):
            coded = content["keys"][key]
            value = None if coded["at"][place] < 0 else coded["values"][coded["at"][place]]
            assert (value is None and pd.isna(own[key])) or str(value) == str(own[key])
        kl = content["metrics"]["kl"][place]
        assert (kl is None) == (own["status"] != "done")
        assert kl is None or kl == pytest.approx(own["kl"], rel=1e-5)
    # The standard error of 0, 1, 2 is 1 over the root of 3.
    assert content["t"][1] == pytest.approx((three.margin or 0.0) * 3**0.5, rel=1e-5)
    shard, curves = script_data(report.site.path / "data" / "curves" / f"{content['shards'][0]}.js")
    assert shard == content["shards"][0]
    for run_id, parts in curves.items():
        assert run_id.startswith(shard)
        assert [len(part["step"]) for part in parts] in ([4], [8])
        assert parts[0]["values"]["kl"][-1] == pytest.approx(frame.loc[run_id]["kl"], rel=1e-5)


def test_every_link_leads_to_a_file_of_the_report_and_no_further(report: Report) -> None:
    site = report.site.path
    for path in site.rglob("*.html"):
        own = HtmlPage(path)
        assert len(own.anchors) == len(set(own.anchors)), path
        for link in own.links:
            if link.startswith("data:"):
                continue
            assert not re.match(r"[a-z]+:|//", link), (path, link)
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), (path, link)
            assert target.is_relative_to(site.resolve())
            if anchor and not name:
                assert anchor in own.anchors, (path, link)
        assert path.stat().st_size < 3e6
    assert (site / "data" / "runs.js").stat().st_size < 3e6


@pytest.mark.parametrize("recorded", sorted(path.parent.name for path in RECORD.glob("*/table.md")))
def test_a_recorded_table_is_read_back_word_for_word(recorded: str) -> None:
    text = (RECORD / recorded / "table.md").read_text()
    versions = {
        "v1",
        "v2",
        "EDLP",
        "paper",
        "printed",
        "published",
        *re.findall(r"\((\w+) is ", text),
        *re.findall(r", (\w+) is ", text),
    }
    page = read_page(text, versions)
    assert markdown(page) == text
    written = latex(page)
    assert written.isascii(), sorted({char for char in written if not char.isascii()})


def test_a_recorded_experiment_shows_table_reading_files_and_manifest(report: Report) -> None:
    shown = page(report, "experiments/pt_table1-quick.html")
    frame = pd.read_csv(RECORD / "pt_table1_quick" / "table.csv")
    plot = shown.data[0]["plots"][0]
    best = next(trace for trace in plot["traces"] if trace["name"] == "PT-DMALA")
    assert best["y"] == pytest.approx(
        list(frame.query("row == 'PT-DMALA' and metric == 'mmd_exact'")["mean"]), rel=1e-6
    )
    colours = {trace["name"]: trace["marker"]["color"] for trace in plot["traces"]}
    assert colours["AB-like"] == look_of("ab")[0]
    own, shade = (bytes.fromhex(tint[1:]) for tint in (look_of("dmala")[0], colours["DMALA, step 25"]))
    assert all(dark < light for dark, light in zip(shade, own, strict=True) if light)
    assert "It is not at the level of independent draws" in shown.text
    assert '"expected": 520' in shown.text
    assert "make pt-table1 SCALE=quick" in shown.text
    for suffix in ("csv", "tex", "pdf", "png"):
        assert any(link.endswith(f".{suffix}") for link in shown.links)


def test_only_what_changed_is_made_again(report: Report) -> None:
    report.build()
    again = Report(report.root, report.site.path, report.hydra)
    assert again.build().pages == 0
    run = report.index.runs[TWIN]
    config = {
        "seed": 7,
        "target": {"name": "mog"},
        "sampler": {"name": "dmala"},
        "task": {"name": "sample"},
        "scale": {"name": "quick"},
    }
    folder = Store(report.root).run("00000000000000aa")
    write_run(folder, config, synthetic_records(500, METRICS))
    later = Report(report.root, report.site.path, report.hydra)
    assert later.build().pages == 1
    (content,) = script_data(report.site.path / "data" / "runs.js")
    assert content["metrics"]["kl"][content["ids"].index("00000000000000aa")] is not None
    shutil.rmtree(folder.path)
    assert later.build().pages == 0
    assert not (report.site.path / "runs" / "00000000000000aa.html").exists()
    (content,) = script_data(report.site.path / "data" / "runs.js")
    assert "00000000000000aa" not in content["ids"]
    assert later.index.runs[TWIN] == run


def test_another_run_of_an_experiment_needs_neither_torch_nor_statistics(report: Report) -> None:
    """Their import takes longer than all the rest."""
    report.build()
    run = next(run for run in report.index.runs.values() if run.done and run.experiment == "made_up")
    os.utime(Store(report.root).run(run.run_id).path / "metrics.csv")
    code = (
        "import sys; from pathlib import Path; from runner.site.build import Report;"
        f"made = Report(Path({str(report.root)!r}), Path({str(report.site.path)!r}), {report.hydra!r});"
        "print(made.build().pages, *sorted({'torch', 'scipy.stats', 'matplotlib'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["2"]


def test_experiments_stand_in_the_order_of_their_numbers(report: Report) -> None:
    text = (report.site.path / "index.html").read_text()
    names = re.findall(r'data-experiment="(\w+)"', text)
    assert names.index("edlp_figure2") < names.index("edlp_figure3") < names.index("edlp_figure11")
    assert names.index("edlp_figure15") < names.index("edlp_table1")


def test_an_experiment_shows_the_runs_that_another_one_computed(tmp_path: Path) -> None:
    root = tmp_path / "outputs"
    hydra = experiments(tmp_path / "conf", "one", "other")
    compute(root, hydra, "one")
    (root / "tables" / "other" / "smoke").mkdir(parents=True)
    (root / "tables" / "other" / "smoke" / "table.csv").write_text("row,cell\n")
    made = Report(root, root / "report", hydra)
    made.build()
    for name in ("one", "other"):
        assert "3 done" in page(made, f"experiments/{name}-smoke.html").text


def test_an_index_of_other_code_is_forgotten(report: Report) -> None:
    version = version_of_code(report.hydra)
    assert Index.load(report.site.index, version).runs
    assert not Index.load(report.site.index, "another").runs
    damaged = report.site.path / ".damaged.json"
    damaged.write_text(report.site.index.read_text()[:-10])
    assert not Index.load(damaged, version).runs
    damaged.unlink()


def test_two_reports_at_once_write_their_index_under_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process puts its index in place between the two steps of this one."""
    path, plain = tmp_path / ".index.json", Path.replace

    def late(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", plain)
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 1)
            Index("other").save(path)
        return plain(self, target)

    monkeypatch.setattr(Path, "replace", late)
    Index("mine").save(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_change_of_the_users_own_configurations_makes_all_pages_anew(tmp_path: Path) -> None:
    conf = tmp_path / "my conf, with a comma" / "experiment"
    conf.mkdir(parents=True)
    hydra = with_config_dir([], str(conf.parent))
    before = version_of_code(hydra)
    (conf / "mine.yaml").write_text("experiment: mine\n")
    assert version_of_code(hydra) != before


def test_readings_link_to_the_pages_of_other_experiments(report: Report) -> None:
    text = "See [this](../pt_table1_quick/reading.md) and [that](../pt_table2_learning_quick/reading.md)."
    assert linked(text, report.root / "record") == "See [this](pt_table1-quick.html) and that."
    for path in RECORD.glob("*/reading.md"):
        assert "reading.md)" not in linked(path.read_text(), RECORD), path


@pytest.mark.parametrize(
    ("experiment", "scale", "overrides", "command"),
    [
        ("pt_table1", "quick", [], "make pt-table1 SCALE=quick"),
        (
            "pt_figure3",
            "paper-emnist-kmnist",
            ["target.dataset=emnist,kmnist"],
            "make pt-figure3 SCALE=paper ARGS='scale.name=paper-emnist-kmnist target.dataset=emnist,kmnist'",
        ),
        ("mine", "quick", ["seed=0"], "rungwise run -m +experiment=mine scale=quick seed=0"),
        ("pt_table1", "my-own", [], "rungwise run -m +experiment=pt_table1 scale=my-own"),
    ],
)
def test_the_command_of_a_page_is_one_that_works(
    experiment: str, scale: str, overrides: list[str], command: str
) -> None:
    place = Place(experiment, scale, Path("outputs", "tables", experiment, scale), Path())
    assert making(place, overrides) == command


def test_an_experiment_is_shown_at_a_scale_with_an_underscore_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "tables" / "mine" / "smoke_b").mkdir(parents=True)
    for record in ("mine_paper", "mine_released_paper"):
        (tmp_path / "record" / record).mkdir(parents=True)
        (tmp_path / "record" / record / "table.csv").touch()
    places = places_of(["mine", "mine_released"], tmp_path, [])
    scales = {name: [place.scale for place in found] for name, found in places.items()}
    assert scales == {"mine": ["paper", "smoke_b"], "mine_released": ["paper"]}


def test_the_command_of_a_page_says_where_an_experiment_of_ones_own_is(tmp_path: Path) -> None:
    place = Place("mine", "quick", tmp_path / "tables" / "mine" / "quick", Path())
    hydra = with_config_dir([], str(tmp_path))
    where = f"'hydra.searchpath=[file://{tmp_path}]' +experiment=mine scale=quick output_root={tmp_path}"
    assert making(place, [], hydra) == f"rungwise run -m {where}"


def test_the_text_of_a_picture_names_its_panels_and_metrics(report: Report) -> None:
    shape = experiment_shape("made_up", report.hydra)
    assert said_of_picture(shape, "figure") == (
        "Figure figure: DMALA; seeds, EMC. Its numbers are in the table below."
    )
    assert said_of_picture(shape, "other") == "Figure other. Its numbers are in the table below."


def test_what_cannot_be_read_or_has_no_table_is_said_and_the_rest_stands(tmp_path: Path) -> None:
    root, conf = tmp_path / "outputs", tmp_path / "conf" / "experiment"
    for name in ("pt_table1_quick", "pt_table4_quick", "edlp_table2_quick", "verdicts"):
        shutil.copytree(RECORD / name, root / "record" / name)
    (root / "record" / "pt_table1_quick" / "table.csv").write_text("no,table\n1")
    (root / "record" / "pt_table1_quick" / "figure.png").write_bytes(b"no picture")
    (root / "record" / "pt_table1_quick" / "reading.md").write_bytes(b"no text \xff")
    (root / "record" / "pt_table4_quick" / "table.md").write_bytes(b"\xff")
    conf.mkdir(parents=True)
    (conf / "bare.yaml").write_text("# @package _global_\nexperiment: bare\n")
    (root / "tables" / "bare" / "quick").mkdir(parents=True)
    made = Report(root, root / "report", [f"hydra.searchpath=[file://{conf.parent}]"])
    made.build()
    assert "Experiment bare has no table block." in page(made, "index.html").text
    for name in ("pt_table1-quick", "pt_table4-quick"):
        assert "cannot be read" in page(made, f"experiments/{name}.html").text
    assert page(made, "experiments/edlp_table2-quick.html").tables
    total = page(made, "index.html").tables[0][-1]
    assert [cell.text for cell in total][:3] == ["all", "", "450"]
    (root / "record" / "verdicts" / "summary.csv").write_bytes(b"\xff")
    made.build()
    assert "Verdicts" not in page(made, "index.html").text


def test_the_start_page_says_how_far_the_processes_at_work_are(tmp_path: Path) -> None:
    root = tmp_path / "outputs"
    folders = [Store(root).run(name) for name in ("0" * 16, "1" * 16)]
    for seed, folder in enumerate(folders):
        folder.prepare()
        config = {"seed": seed, "target": {"name": "mog"}, "sampler": {"name": "dmala"}}
        folder.start(OmegaConf.to_yaml(OmegaConf.create(config)), {})
        assert folder.lock.take()
    made = Report(root, root / "report", [])
    made.build()
    assert "has begun (process " in page(made, "index.html").text
    note([folder.lock for folder in folders], Reached("mog / dmala, 2 seeds", 620, 2000, 700.0))
    made.build()
    text = page(made, "index.html").text
    assert " and 1 other run mog / dmala, 2 seeds: 620 of 2,000, about 11 min 40 s left (process " in text
    for folder in folders:
        folder.lock.release()
    made.build()
    assert "At work now" not in page(made, "index.html").text


def test_the_time_that_is_left_is_that_of_the_finished_runs(report: Report) -> None:
    done = [run for run in report.index.runs.values() if run.done]
    # Every made-up run took 0.1 s, and says that it was computed by itself.
    assert time_left(Counter(done=4, running=2, missing=38), done, 2) == "about 2.0 s left"
    assert time_left(Counter(done=4, running=8, missing=32), done, 1) == "about 4.0 s left"  # one by one
    assert time_left(Counter(done=4, missing=40), done, 0) == ""
    assert time_left(Counter(running=1, missing=3), [], 1) == ""
