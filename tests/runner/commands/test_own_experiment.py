"""An experiment outside the project is one YAML: it runs and has its table, its folder on the search path."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import table
from tests.runner.conftest import Call

YAML = """# @package _global_
# Two samplers on 16 states.
experiment: our_table

sweep:
  rows:
    - {row: Gibbs, sampler: gibbs}
    - {row: DULA, sampler: dula, sampler.step_size: 0.2}
  overrides: {target: bernoulli4, metric: tv, task.steps: 40, task.chains: 2}
  seeds: {smoke: 2}

table:
  title: Two samplers
  caption: For the tests.
  rows: [{row: Gibbs}, {row: DULA}]
  columns: [{label: all, where: {target: bernoulli4}}]
  metrics: [{metric: tv, name: Total variation, direction: min}]
"""


def test_an_experiment_outside_the_project_is_one_file(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "our_table.yaml").write_text(YAML)
    where = [f"hydra.searchpath=[file://{own.parent}]", "scale=smoke", f"output_root={tmp_path}/results"]
    assert call("-m", "+experiment=our_table", *where).status == 0
    assert table.main(["our_table", *where]) == 0
    printed = capsys.readouterr().out
    assert "4 of 4 runs are done." in printed
    assert "Gibbs" in (tmp_path / "results" / "tables" / "our_table" / "smoke" / "table.md").read_text()
    assert table.main(["our_tabel", *where]) == 2
    assert "did you mean 'our_table'?" in capsys.readouterr().err
