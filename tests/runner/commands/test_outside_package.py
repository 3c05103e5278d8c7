"""A task, target, sampler, metric and experiment of one Python file and one YAML each, outside the tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runner.store.run_store import Store

ROOT = Path(__file__).parents[3]

FILES = {
    "count_ones.py": """
        from runner.store.run_files import RunResult, Measurement
        from runner.tasks.task import PerSeedTask

        class CountOnes(PerSeedTask):
            def check(self, config, problems):
                if config.task.draws < 1:
                    from runner.execution.errors import UserError
                    raise UserError(f"task.draws must be at least 1, {config.task.draws} was given.")

            def identity(self, config, parts):
                return {"target": parts["target"], "task": parts["task"]}

            def budget(self, configs):
                return f"{configs[0].task.draws} draws"

            def run(self, config, seed, store, folder):
                from runner.problem.build import build_target
                from targets.randomness import Streams
                draws = build_target(config).initial((1, config.task.draws), Streams([seed], "ones"))
                values = {"ones": float(draws.mean())}
                return RunResult("bits", "none", seed, [Measurement(0, 0, 0.0, values)], 0, 0, 0.0, 0.0)
        """,
    "bits.py": """
        import torch
        from targets.spaces import Binary
        from targets.target import Target

        class Bits(Target):
            def __init__(self, d):
                super().__init__()
                self.space = Binary(d)
                self.register_buffer("weight", torch.tensor(0.5))

            def log_prob(self, theta):
                return self.weight * theta.sum(-1)
        """,
    "walk.py": """
        from samplers.discrete.random_walk import RandomWalk

        class Walk(RandomWalk):
            pass
        """,
    "ones.py": """
        from metrics.metric import Metric

        class Ones(Metric):
            name, unit = "ones", "bits"

            def update(self, step, theta, info):
                self.last = theta.double().mean((-2, -1))

            def result(self):
                return {"ones": self.last}
        """,
}

YAMLS = {
    "task/count_ones": {"name": "count_ones", "_target_": "mine.count_ones.CountOnes", "draws": 50},
    "target/bits": {"name": "bits", "_target_": "mine.bits.Bits", "d": 4},
    "sampler/walk": {"name": "walk", "_target_": "mine.walk.Walk"},
    "metric/ones": {"ones": {"_target_": "mine.ones.Ones"}},
}

EXPERIMENT = """# @package _global_
experiment: ours
sweep:
  grid: {target.d: [3, 4]}
  rows: [{row: Walk, sampler: walk}, {row: Gibbs, sampler: gibbs}]
  overrides: {target: bits, metric: ones, task.steps: 20, task.chains: 4}
table:
  title: Ones
  caption: Shares of ones.
  rows: [{row: Walk}, {row: Gibbs}]
  columns:
    - {label: three, where: {target.d: 3}}
    - {label: four, where: {target.d: 4}}
  metrics: [{metric: ones, name: ones, direction: min}]
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """The folder that holds the package `mine`, with its configurations in ``mine/conf``."""
    package = tmp_path / "outside" / "mine"
    for name, text in FILES.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line[8:] for line in text.splitlines()))
    for name, content in YAMLS.items():
        path = package / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content))
    (package / "conf" / "experiment").mkdir()
    (package / "conf" / "experiment" / "ours.yaml").write_text(EXPERIMENT)
    return tmp_path / "outside"


def command(outside: Path, module: str, *argv: str) -> str:
    """What ``python -m module --config-dir ...`` prints, called from the folder above."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(outside)])}
    line = [sys.executable, "-m", module, "--config-dir", str(outside / "mine" / "conf"), *argv]
    ended = subprocess.run(
        line, cwd=outside.parent, env=environment, capture_output=True, text=True, check=False
    )
    return f"{ended.returncode}: {ended.stdout}{ended.stderr}"


def test_a_task(outside: Path) -> None:
    task = ("task=count_ones", "target=bernoulli4", "seed=[0,1]")
    said = command(outside, "runner", *task, "task.draws=60")
    assert said.startswith("0: seed 0: 0 steps"), said
    (first, second) = (path.parent for path in outside.parent.glob("outputs/runs/*/summary.json"))
    values = {json.loads((path / "summary.json").read_text())["metrics"]["ones"] for path in (first, second)}
    assert len(values) == 2
    assert all(abs(60 * 4 * value - round(60 * 4 * value)) < 1e-6 for value in values)
    assert "done before" in command(outside, "runner", *task, "task.draws=60", "sampler=gibbs")
    assert "2: error: task.draws must be at least 1" in command(outside, "runner", *task, "task.draws=0")
    assert "did you mean 'task.draws'?" in command(outside, "runner", *task, "task.drows=3")


def test_an_experiment_of_a_target_a_sampler_and_a_metric(outside: Path) -> None:
    scale = ("scale=smoke", "task.burn_in=0")
    assert command(outside, "runner.status", "ours", *scale).count("8 runs are left") == 1
    said = command(outside, "runner", "-m", "+experiment=ours", *scale)
    assert said == "0: 8 runs done.\n"
    said = command(outside, "runner.table", "ours", *scale)
    assert said.startswith("0: "), said
    table = (outside.parent / "outputs" / "tables" / "ours" / "smoke" / "table.md").read_text()
    assert "| Walk" in table
    assert "| Gibbs" in table
    store = Store(outside.parent / "outputs")
    names = {path.name for path in (store.root / "runs").iterdir()}
    summaries = [summary for name in names if (summary := store.run(name).summary()) is not None]
    assert {(each["target"], each["sampler"]) for each in summaries} == {("bits", "walk"), ("bits", "gibbs")}
    assert all(0.0 <= each["metrics"]["ones"] <= 1.0 for each in summaries)
