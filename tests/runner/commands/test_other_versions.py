"""Finished runs of an experiment whose ids a plan has not, as ids changed without a new schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import status, table
from tests.support.commands import Call, content

SAID = "4 finished runs of shown at scale=smoke under outputs have ids that this plan has not: they are of"


EXPERIMENT = """# @package _global_
experiment: shown
sweep:
  rows: [{row: Gibbs, sampler: gibbs}, {row: Hamming, sampler: hamming_ball}]
  overrides: {target: bernoulli4, metric: "[tv]", task.steps: 20, task.chains: 3}
table:
  title: t
  caption: c
  rows: [{row: Gibbs}, {row: Hamming}]
  columns: [{label: a, where: {target: bernoulli4}}]
  metrics: [{metric: tv, name: TV, direction: min}]
"""


@pytest.fixture
def argv(tmp_path: Path, call: Call) -> list[str]:
    """The experiment's table is rendered; then its runs get the ids of another version."""
    path = tmp_path / "conf" / "experiment" / "shown.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(EXPERIMENT)
    lines = [f"hydra.searchpath=[file://{tmp_path}/conf]", "scale=smoke", "seed=0,1"]
    assert call("-m", "+experiment=shown", *lines).status == 0
    assert table.main(["shown", *lines]) == 0
    for path in list(Path("outputs/runs").iterdir()):
        path.rename(path.with_name(path.name[::-1]))
    return lines


def test_a_table_with_numbers_is_not_replaced_by_one_without(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("outputs/tables/shown/smoke")
    before = content(folder)
    capsys.readouterr()
    assert table.main(["shown", *argv]) == 0
    out = capsys.readouterr().out
    assert "0 of 4 runs are done (4 missing)." in out
    assert SAID in out
    assert f"The table in {folder} has numbers, and was left as it is: no run of this one is done." in out
    assert "Written to" not in out
    assert content(folder) == before
    # One without numbers is rendered anew.
    (folder / "table.csv").write_text("row,cell,metric,mean,published_v1\nA,a,tv,,0.5\n")
    assert table.main(["shown", *argv]) == 0
    assert f"Written to {folder}" in capsys.readouterr().out


def test_the_status_says_so_while_no_run_is_done(
    argv: list[str], call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert status.main(["shown", *argv]) == 0
    assert SAID in capsys.readouterr().out
    assert call("-m", "+experiment=shown", *argv).status == 0
    for main in (status.main, table.main):
        assert main(["shown", *argv]) == 0
    assert "finished runs of shown" not in capsys.readouterr().out
