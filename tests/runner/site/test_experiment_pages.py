"""The page of an experiment and its files say the same, its links lead to its runs, and it goes with them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from runner import table
from runner.execution.storage_errors import StorageError
from runner.report.page.kept_overrides import FILE, choosing, kept_overrides
from runner.site.build import Report
from runner.site.content.experiment_places import Place
from runner.site.pages.making_command import judging, making, starting
from runner.store.run_folder import RunFolder
from tests.support.site.compare_page import compared
from tests.support.site.html_page import HtmlPage, script_data
from tests.support.site.own_experiments import compute, experiments

PAGE = "experiments/one-smoke.html"
SEVEN = "task.chains=7"


class Stored:
    """An output root with the runs of experiments, and the report of it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.conf = folder / "outputs", folder / "conf"
        self.hydra = experiments(self.conf, "one")

    def rendered(self, *overrides: str) -> float:
        """Renders the table; the mean in it."""
        given = [*self.hydra, "scale=smoke", *overrides, f"output_root={self.root}"]
        return float(pd.read_csv(table.render("one", given) / "table.csv")["mean"][0])

    def reported(self, name: str = PAGE) -> HtmlPage:
        """A page of the report as it is now."""
        made = Report(self.root, self.root / "report", self.hydra)
        made.build()
        return HtmlPage(made.site.path / name)


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path)


def mean(page: HtmlPage) -> float:
    """The number in the table of one row."""
    return float(page.tables[0][-1][1].order or "nan")


def address(page: HtmlPage) -> str:
    """Which runs it asks the page Compare for."""
    (found,) = (link.partition("#")[2] for link in page.links if "compare.html#" in link)
    return found


@pytest.mark.parametrize("both", [True, False], ids=["beside the plain ones", "alone"])
def test_a_page_shows_the_runs_that_its_table_was_rendered_of(stored: Stored, both: bool) -> None:
    if both:
        compute(stored.root, stored.hydra, "one")
    compute(stored.root, stored.hydra, "one", SEVEN, first=50)
    wanted = stored.rendered(SEVEN)
    page = stored.reported()
    assert mean(page) == pytest.approx(wanted, rel=1e-9)
    assert "3 done" in page.text
    assert "missing" not in page.text
    assert "3 of 3 runs are done." in page.text
    assert f"Overrides: {SEVEN}; captions and notes describe the experiment without them." in page.text
    assert f"+experiment=one scale=smoke {SEVEN} output_root={stored.root}" in page.text
    assert "differ from this page" not in page.text
    found = compared(stored.root / "report", f"{address(page)}&view=bars&metric=kl").found
    assert found == f"3 of {6 if both else 3} runs"
    if both:
        assert mean(stored.reported()) == pytest.approx(wanted)
        assert stored.rendered() != wanted
        again = stored.reported()
        assert mean(again) != pytest.approx(wanted)
        assert SEVEN not in again.text


def test_a_page_whose_files_are_of_other_runs_says_so(stored: Stored) -> None:
    """Earlier versions kept no overrides; and runs may be computed after a table was rendered."""
    compute(stored.root, stored.hydra, "one")
    compute(stored.root, stored.hydra, "one", SEVEN, first=50)
    stored.rendered(SEVEN)
    tables = stored.root / "tables" / "one" / "smoke"
    (tables / FILE).unlink()
    page = stored.reported()
    assert "These files differ from this page" in page.text
    command = re.search(r"rungwise table (one .*) renders them", page.text)
    assert command is not None
    assert command[1].endswith(f" scale=smoke output_root={stored.root}")
    stored.rendered()
    assert "differ from this page" not in stored.reported().text


def test_a_table_that_was_edited_says_so(stored: Stored) -> None:
    ids = compute(stored.root, stored.hydra, "one")
    stored.rendered()
    for run_id in ids:
        shutil.rmtree(stored.root / "runs" / run_id)
    assert "not as it was written" not in stored.reported().text
    path = stored.root / "tables" / "one" / "smoke" / "table.md"
    path.write_text(path.read_text().replace("±", "± 0"))
    assert "is not as it was written: table.md." in stored.reported().text


def test_a_run_that_cannot_be_read_now_leaves_the_others(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, read = compute(stored.root, stored.hydra, "one"), RunFolder.config

    def refused(folder: RunFolder) -> Any:
        if folder.run_id == ids[0]:
            raise StorageError("Permission is missing to read config.yaml.")
        return read(folder)

    monkeypatch.setattr(RunFolder, "config", refused)
    made = Report(stored.root, stored.root / "report", stored.hydra)
    made.build()
    assert {run_id: run.status for run_id, run in made.index.runs.items()} == {
        ids[0]: "unreadable",
        ids[1]: "done",
        ids[2]: "done",
    }


@pytest.mark.parametrize("content", ["table: [1, 2]", "table: {title: [}"])
def test_an_experiment_that_cannot_be_read_leaves_the_others(stored: Stored, content: str) -> None:
    (stored.conf / "experiment" / "broken.yaml").write_text(f"# @package _global_\n{content}\n")
    compute(stored.root, stored.hydra, "one")
    assert mean(stored.reported()) > 0
    assert "broken" in stored.reported("index.html").text


def test_pages_that_another_report_removed_are_made_again(stored: Stored) -> None:
    (run_id, *_) = compute(stored.root, stored.hydra, "one")
    made = Report(stored.root, stored.root / "report", stored.hydra)
    made.build()
    pages = [made.site.path / PAGE, made.site.path / "runs" / f"{run_id}.html"]
    for page in pages:
        page.unlink()
    assert made.build().pages == 2
    assert all(page.is_file() for page in pages)
    assert made.build().pages == 0


def test_a_dangling_link_beside_a_table_is_no_file_of_it(stored: Stored) -> None:
    compute(stored.root, stored.hydra, "one")
    stored.rendered()
    tables = stored.root / "tables" / "one" / "smoke"
    (tables / "gone.csv").symlink_to(tables / "nothing.csv")
    (tables / "folder.csv").mkdir()
    assert "table.csv" in stored.reported().text


def test_a_table_without_its_runs_says_when_it_counted_them(stored: Stored) -> None:
    for run_id in compute(stored.root, stored.hydra, "one")[:2]:
        stored.rendered()
        shutil.rmtree(stored.root / "runs" / run_id)
    (left,) = (stored.root / "runs").iterdir()
    (left / "summary.json").unlink()
    page = stored.reported()
    assert "As it was written: 2 of 3 runs are done" in page.text


def test_a_table_keeps_what_chose_its_runs_and_not_where_they_are(tmp_path: Path) -> None:
    given = [
        "hydra.searchpath=[file:///x]",
        "scale=smoke",
        SEVEN,
        "++seed=0,1",
        "logger=wandb",
        "data.root=/x",
    ]
    kept = ["scale=smoke", SEVEN, "++seed=0,1"]
    assert choosing([*given, "++output_root=/x", "+hydra.launcher.n_jobs=2", "logger.mode=offline"]) == kept
    assert kept_overrides(tmp_path) is None


def test_a_page_of_an_experiment_without_results_is_removed(stored: Stored) -> None:
    """Also where the index was of another version, and forgotten; pages of other experiments stay."""
    stored.hydra = experiments(stored.conf, "one", "two")
    ids = compute(stored.root, stored.hydra, "one")
    compute(stored.root, stored.hydra, "two", SEVEN)
    stored.rendered()
    assert "3 done" in stored.reported().text
    site = stored.root / "report"
    left = [
        site / "thumbnails" / "one-smoke.png",
        site / PAGE,
        site / "files" / "one-smoke",
        site / "runs" / f"{ids[0]}.html",
    ]
    assert all(path.exists() for path in left)
    shutil.rmtree(stored.root / "tables")
    for run_id in ids:
        shutil.rmtree(stored.root / "runs" / run_id)
    (site / ".index.json").unlink()
    assert "two" in stored.reported("index.html").text
    assert not any(path.exists() for path in left)
    assert (site / "experiments" / "two-smoke.html").is_file()


def test_files_that_are_gone_from_a_table_are_gone_from_the_report(stored: Stored) -> None:
    compute(stored.root, stored.hydra, "one")
    stored.rendered()
    stored.reported()
    (stored.root / "tables" / "one" / "smoke" / "table.tex").unlink()
    stored.reported()
    names = {path.name for path in (stored.root / "report" / "files" / "one-smoke").iterdir()}
    assert "table.csv" in names
    assert "table.tex" not in names


def test_a_run_is_of_every_experiment_that_needs_it(stored: Stored) -> None:
    """Whoever computed it: a plain sweep, or another experiment."""
    stored.hydra = experiments(stored.conf, "one", "two")
    ids = compute(stored.root, stored.hydra, "one", "seed=0,1", label="")
    ids += compute(stored.root, stored.hydra, "one", "seed=2", label="two", first=2)
    stored.rendered()
    page = stored.reported()
    assert "3 done" in page.text
    site = stored.root / "report"
    for conditions in (address(page), "experiment=one", "experiment=two"):
        shown = compared(site, f"{conditions}&view=bars&metric=kl")
        assert shown.found == "3 of 3 runs", conditions
        (said,) = shown.means.values()
        assert said.endswith("n = 3")
    assert compared(site, "experiment=none&view=bars&metric=kl").found == "2 of 3 runs"
    for run_id in ids:
        text = (site / "runs" / f"{run_id}.html").read_text()
        links = re.findall(r'<a href="../experiments/(\S+).html">(.*?)</a>', text)
        assert links == [("one-smoke", "one"), ("two-smoke", "two")]


def test_compare_hears_of_an_experiment_whose_runs_did_not_change(stored: Stored) -> None:
    compute(stored.root, stored.hydra, "one", label="")
    assert "3 runs" in stored.reported("index.html").text
    data = stored.root / "report" / "data" / "runs.js"
    (content,) = script_data(data)
    assert "also" not in content["keys"]["experiment"] or not content["keys"]["experiment"]["also"]
    stored.rendered()
    stored.reported()
    (content,) = script_data(data)
    assert content["keys"]["table"]["values"] == ["one-smoke"]
    assert len(content["keys"]["experiment"]["also"]) == 3


def test_the_commands_of_a_report_say_where_its_results_are(stored: Stored) -> None:
    """Those of the start page also where an experiment of one's own is, and make only what it reads alike."""
    stored.root.mkdir()
    own = starting("one", stored.root, stored.hydra)
    assert own == f"python -m runner -m '{stored.hydra[0]}' +experiment=one output_root={stored.root}"
    start = stored.reported("index.html").text
    assert own in start
    assert f"python -m runner -m +experiment=pt_table2_sampling output_root={stored.root}\n" in start
    assert starting("pt_table1", Path("outputs")) == "python -m runner -m +experiment=pt_table1"
    assert judging(Path("outputs")) == "make verdicts"
    assert judging(Path("/results")) == "rungwise verdicts output_root=/results"


@pytest.mark.parametrize(
    ("root", "command"),
    [
        ("outputs", "make pt-table1 SCALE=smoke"),
        ("/results/a-1", "make pt-table1 SCALE=smoke OUTPUT=/results/a-1"),
        ("/re sults", "rungwise run -m +experiment=pt_table1 scale=smoke 'output_root=\"/re sults\"'"),
        ("/$HOME", "rungwise run -m +experiment=pt_table1 scale=smoke 'output_root=\"/$HOME\"'"),
    ],
)
def test_the_command_of_a_table_says_where_its_results_are(root: str, command: str) -> None:
    place = Place("pt_table1", "smoke", Path(root, "tables", "pt_table1", "smoke"), Path())
    assert making(place, []) == command
    further = making(place, ["scale=smoke", "seed=0,1"])
    assert further == (f"{command} ARGS=seed=0,1" if "make" in command else further)
    assert "seed=0,1" in further


@pytest.mark.parametrize(
    ("seed", "said"),
    [("seed=0", "One run each, without an interval"), ("seed=[0,1]", "Mean and 95 % interval over seeds")],
)
def test_a_chart_of_one_seed_names_no_interval_over_seeds(stored: Stored, seed: str, said: str) -> None:
    compute(stored.root, stored.hydra, "one", seed)
    stored.rendered(seed)
    page = stored.reported().text
    assert said in page
    assert ("interval over seeds" in page) == (seed != "seed=0")
    assert ("1 run: commit" if seed == "seed=0" else "2 runs: commit") in page


def test_a_title_without_a_colon_stands_once_on_the_start_page(stored: Stored) -> None:
    """It was heading and title: ``Table 1 as the released code computes it: EDLP Table 1 as ...``."""
    experiments(stored.conf, "two")
    compute(stored.root, stored.hydra, "one")
    page = stored.reported("index.html").text
    titles = re.findall(r"^(?:one|two)\b.*", page, re.MULTILINE)
    assert {"one", "two"} == set(titles)
