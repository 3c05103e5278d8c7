"""Workspaces and reports: what their client sends to a server of ours, and that twice changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wandb_workspaces", reason="the extra dashboards is not installed")

from runner import table, wandb_sync
from runner.__main__ import main as run
from runner.dashboards.papers import Chapter, report_title
from tests.support.wandb_server.server import WandbServer

SMALL = [
    "scale=smoke",
    "sampler=gibbs,dmala",
    "target.components=2",
    "task.chains=4",
    "task.steps=20",
    "task.record=3",
]
ROWS = ["sampler=dmala" if word.startswith("sampler") else word for word in SMALL]
"""With rows of pt_table5."""


def views(server: WandbServer, kind: str) -> dict[str, dict[str, Any]]:
    """The views of a kind by their titles, with the specification read."""
    return {
        view["displayName"]: {**view, "spec": json.loads(view["spec"])}
        for view in server.project.views.values()
        if view["type"] == kind
    }


def panels(view: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The panels of a workspace by their section."""
    found = view["spec"]["section"]["panelBankConfig"]["sections"]
    return {section["name"]: section["panels"] for section in found}


def tables(server: WandbServer) -> dict[str, dict[str, Any]]:
    """The tables that were uploaded, by name."""
    return {
        name.rsplit("/", 1)[-1].removesuffix(".table.json"): json.loads(body)
        for name, body in server.project.uploads.items()
        if name.endswith("table.json")
    }


def saved(server: WandbServer) -> int:
    """How often a view was saved."""
    return sum("upsertView" in name.lower() or "UpsertView2" in name for name in server.requests)


@pytest.mark.slow
def test_an_experiment_has_a_workspace_and_its_paper_a_report(
    tmp_path: Path, server: WandbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*ROWS, f"output_root={tmp_path}"]
    assert run(["-m", "+experiment=pt_table5", *words]) == 0
    assert table.main(["pt_table5", *words]) == 0
    capsys.readouterr()
    command = ["pt_table5", "--workspace", "--report", *words]
    assert wandb_sync.main(command) == 0
    out, err = capsys.readouterr()
    assert "W&B workspace: http" in out, err
    assert "W&B report: http" in out
    ((title, workspace),) = views(server, "project-view").items()
    assert title.startswith("PT-DLP Table 5")
    sections = panels(workspace)
    assert list(sections) == [
        "Table",
        "Against steps",
        "Against evaluations",
        "Against seconds",
        "While it runs",
        "Acceptance and swap rates by rung",
        "Samples",
        "System",
    ]
    (runset,) = workspace["spec"]["section"]["runSets"]
    assert "pt_table5, smoke" in json.dumps(runset["filters"])
    assert ["row" in json.dumps(key) for key in runset["grouping"]] == [False, True]
    bands = [panel["config"] for panel in sections["Against seconds"]]
    assert {band["panelDefId"] for band in bands} == {"tester/rungwise-interval"}
    assert {band["fieldSettings"]["x"] for band in bands} == {"seconds"}
    assert "tv" in {band["stringSettings"]["metric"] for band in bands}
    assert server.project.charts["rungwise-interval"]["entity"] == "tester"
    sent = server.run("table-pt_table5-smoke-dashboard")
    assert {"results", "curves"} <= set(sent.summary)
    curves = tables(server)["curves"]
    assert curves["columns"][:3] == ["row", "column", "metric"]
    assert {"tv", "kl"} <= {line[2] for line in curves["data"]}
    assert {"verdict", "published_v1"} <= set(tables(server)["results"]["columns"])

    ((title, report),) = views(server, "runs").items()
    assert title == "PT-DLP: tables and figures of pt_*"
    text = json.dumps(report["spec"])
    assert "pt_table5, smoke" in text
    assert "figure" in text

    server.requests.clear()
    assert wandb_sync.main(command) == 0
    out = capsys.readouterr().out
    assert "W&B workspace (as it was): http" in out
    assert "W&B report (as it was): http" in out
    assert saved(server) == 0
    assert server.answers.unknown == set()


def test_a_sweep_online_ends_with_its_workspace(
    tmp_path: Path, server: WandbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["-m", *SMALL, "logger=wandb", f"output_root={tmp_path}", "target=mog"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "W&B workspace: http" in out
    ((title, workspace),) = views(server, "project-view").items()
    assert title.startswith("mog: gibbs, dmala (2 runs")
    (runset,) = workspace["spec"]["section"]["runSets"]
    for run_id in server.project.runs:
        assert run_id in json.dumps(runset["filters"])
    pictures = [panel["config"]["mediaKeys"] for panel in panels(workspace)["Samples"]]
    assert pictures == [["visits"]]
    server.requests.clear()
    assert run(command) == 0
    assert saved(server) == 0
    assert len(views(server, "project-view")) == 1


@pytest.mark.slow
def test_a_sweep_and_its_table_end_with_workspace_and_report(
    tmp_path: Path, server: WandbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    small = [word.replace("dmala", "pt_dmala") for word in ROWS]
    words = [*small, "logger=wandb", f"output_root={tmp_path}"]
    sweep = ["-m", "+experiment=pt_table5", *words]
    assert run(sweep) == 0
    out = capsys.readouterr().out
    assert "W&B workspace: http" in out
    assert "W&B report" not in out  # nothing is rendered yet
    by_rung = tables(server)["rungs"]
    first = dict(zip(by_rung["columns"], by_rung["data"][0], strict=True))
    assert (first["of"], first["rung"], first["beta"]) == ("run", 0, 1.0)
    assert 0 < first["acceptance"] < 1
    assert 0 < first["swap_rate"] <= 1
    assert table.main(["pt_table5", *words]) == 0
    out = capsys.readouterr().out
    assert "W&B workspace: http" in out  # the figures have joined it
    assert "W&B report: http" in out
    assert f"W&B: {server.url}" in out
    server.requests.clear()
    assert run(sweep) == 0
    out = capsys.readouterr().out
    assert "W&B workspace (as it was): http" in out
    assert "W&B report (as it was): http" in out
    assert saved(server) == 0


def test_two_papers_whose_titles_begin_alike_have_a_report_each() -> None:
    """A report is found again by its title, and the second would take the place of the first."""
    chapter = Chapter("one, quick", "# Table 1", (), "")
    titles = [report_title(paper, [chapter]) for paper in ("mine", "ours")]
    assert titles == ["Table: tables and figures of mine_*", "Table: tables and figures of ours_*"]


def test_a_workspace_offline_and_a_report_of_runs_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"output_root={tmp_path}"
    assert (
        run(["target=bernoulli4", "sampler=gibbs", "scale=smoke", "task.steps=20", "task.chains=4", root])
        == 0
    )
    assert wandb_sync.main(["runs", "mode=offline", "--workspace", root]) == 2
    assert "mode must be online, it is offline" in capsys.readouterr().err
    assert wandb_sync.main(["runs", "--report", root]) == 2
    assert "--report goes with an experiment" in capsys.readouterr().err
