"""A user's own target, sampler, metric, task and experiment: a package and some YAMLs elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner import status, table
from runner.config.overrides import Names
from runner.config.rewritten import as_given, with_own_classes
from tests.support.commands import Call

ROOT = Path(__file__).parents[3]

PACKAGE = '''
import torch
from metrics.metric import Metric
from runner.execution.errors import UserError
from runner.problem.build import build_target
from runner.store.run_files import Measurement, RunResult
from runner.tasks.task import PerSeedTask
from samplers.metropolis_hastings import MetropolisHastings
from targets.randomness import Streams, uniform
from targets.spaces import Binary
from targets.target import Target


class Bits(Target):
    """Independent bits."""

    def __init__(self, d, odds=2.0):
        super().__init__()
        self.space = Binary(d)
        self.register_buffer("weight", torch.tensor(odds).log())

    def log_prob(self, theta):
        return self.weight * theta.sum(-1)

    def probabilities(self):
        return self.log_prob(self.space.states().to(self.weight)).double().softmax(0)


class Flip:
    needs_gradient = False

    def propose(self, space, state, beta, generator):
        flips = uniform(generator, state.log_prob.shape, space.event_shape, like=state.theta) < 0.5
        theta = torch.where(flips, 1 - state.theta, state.theta)
        return theta, self.log_prob(space, state, theta, beta)

    def log_prob(self, space, source, destination, beta):
        return torch.zeros_like(source.log_prob)


class Walk(MetropolisHastings):
    def __init__(self):
        super().__init__(Flip())


class Ones(Metric):
    name, unit = "ones", "bits"

    def __init__(self, context, power=1):
        super().__init__(context)
        self.power = power

    def update(self, step, theta, info):
        self.last = theta.double().pow(self.power).mean((-2, -1))

    def result(self):
        return {"ones": self.last}


class CountOnes(PerSeedTask):
    def check(self, config, problems):
        if config.task.draws < 1:
            raise UserError(f"task.draws must be at least 1, {config.task.draws} was given.")

    def identity(self, config, parts):
        return {"target": parts["target"], "task": parts["task"]}

    def budget(self, configs):
        return f"{configs[0].task.draws} draws"

    def run(self, config, seed, store, folder, problems):
        draws = build_target(config).initial((1, config.task.draws), Streams([seed], "ones"))
        values = {config.task.value: float(draws.mean())}
        return RunResult("bits", "none", seed, [Measurement(0, 0, 0.0, values)], 0.0)
'''

YAMLS = {
    "task/count_ones": "{name: count_ones, _target_: mine.things.CountOnes, draws: 50, value: ones}",
    "target/bits": "{name: bits, _target_: mine.things.Bits, d: 3}",
    "sampler/walk": "{name: walk, _target_: mine.things.Walk}",
    "metric/ones": "{ones: {_target_: mine.things.Ones}}",
    "experiment/ours": """# @package _global_
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
""",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the package `mine`, on this process's path; its configurations are in ``mine/conf``."""
    folder = tmp_path / "outside" / "mine"
    for name, text in YAMLS.items():
        path = folder / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "things.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder.parent))
    for name in [name for name in sys.modules if name.split(".")[0] == "mine"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def summaries() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(Path().glob("outputs/runs/*/summary.json"))]


LONG = ("metric=tv", "task.steps=2000", "task.chains=20")
SHORT = ("metric=tv", "task.steps=20", "task.chains=2")
BITS = "target._target_=mine.things.Bits"


@pytest.mark.usefixtures("package")
def test_a_target_by_its_class(call: Call) -> None:
    ended = call(BITS, "+target.d=3", "sampler=gibbs", *LONG)
    assert ended.status == 0, ended.err
    (summary,) = summaries()
    assert summary["target"] == "Bits"
    # 32,000 draws of 8 states: the total variation is about 0.007; 0.05 is beyond 1e-6.
    assert summary["metrics"]["tv"] < 0.05
    for same in ((BITS, "target.d=3"), ("target=mos", BITS, "target.d=3")):
        assert "done before" in call(*same, "sampler=gibbs", *LONG).out
    assert len(summaries()) == 1


@pytest.mark.usefixtures("package")
def test_a_sampler_and_a_metric_by_their_classes(call: Call) -> None:
    metric = ("+metric.mean._target_=mine.things.Ones", "+metric.mean.power=2")
    ended = call("target=bernoulli4", "sampler._target_=mine.things.Walk", *SHORT, *metric)
    assert ended.status == 0, ended.err
    (summary,) = summaries()
    assert (summary["sampler"], set(summary["metrics"])) == ("Walk", {"tv", "ones", "evaluations"})


@pytest.mark.usefixtures("package")
def test_a_kernel_inside_parallel_tempering(call: Call) -> None:
    tempered = ("sampler=pt_gibbs", "sampler.kernel._target_=mine.things.Walk", "sampler.ladder=[1,0.5]")
    ended = call("target=bernoulli4", *tempered, *SHORT)
    assert ended.status == 0, ended.err
    assert summaries()[0]["axes"] == [2]


def test_by_yaml_on_the_search_path(call: Call, package: Path) -> None:
    where = f"hydra.searchpath=[file://{package}/conf]"
    ended = call(where, "target=bits", *LONG, "sampler=walk", "+target.odds=3.0")
    assert ended.status == 0, ended.err
    (summary,) = summaries()
    assert (summary["target"], summary["sampler"]) == ("bits", "walk")
    assert summary["metrics"]["tv"] < 0.05
    assert "did you mean 'bits'?" in call(where, "target=bitts").err
    swept = call("-m", where, "target=bits", "sampler=walk,gibbs", *SHORT)
    assert (swept.status, len(summaries())) == (0, 3), swept.err


def test_a_task(call: Call, package: Path) -> None:
    task = ("--config-dir", str(package / "conf"), "task=count_ones", "target=bernoulli4", "seed=[0,1]")
    ended = call(*task, "task.draws=60")
    assert (ended.status, ended.out.startswith("seed 0: 0.00 s  ")) == (0, True), ended
    values = {summary["metrics"]["ones"] for summary in summaries()}
    assert len(values) == 2
    assert all(abs(60 * 4 * value - round(60 * 4 * value)) < 1e-6 for value in values)
    assert "done before" in call(*task, "task.draws=60", "sampler=gibbs").out
    assert "error: task.draws must be at least 1" in call(*task, "task.draws=0").err
    assert "did you mean 'task.draws'?" in call(*task, "task.drows=3").err


def test_nothing_is_said_of_the_sampler_where_there_is_none(call: Call, package: Path) -> None:
    task = ("--config-dir", str(package / "conf"), "task=count_ones", "target=bernoulli4,mog", "seed=0,1")
    ended = call("-m", *task)
    assert (ended.status, ended.err) == (0, "")
    assert "ones" in ended.out
    assert "exact" not in ended.out
    assert {summary["exact"] for summary in summaries()} == {None}


@pytest.mark.parametrize("value", ["seed", "steps", "status", "target", "sampler.step_size"])
def test_a_value_of_a_task_that_would_hide_what_is_said_of_the_run(
    call: Call, package: Path, value: str
) -> None:
    task = ("--config-dir", str(package / "conf"), "task=count_ones", "target=bernoulli4")
    ended = call(*task, f"task.value={value}")
    assert ended.status != 0
    assert f"A task must give another name to its value {value}, which is the run's own." in ended.err
    assert summaries() == []


def test_an_experiment_in_processes_of_its_own(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep as a user calls it, from another folder; its status and its table."""
    monkeypatch.chdir(tmp_path)
    ours = ["--config-dir", str(package / "conf"), "ours", "scale=smoke", "task.burn_in=0"]
    assert status.main(ours) == 0
    assert "8 runs are left" in capsys.readouterr().out
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(package.parent)])}
    sweep = [sys.executable, "-m", "runner", *ours[:2], "-m", "+experiment=ours", *ours[3:]]
    ended = subprocess.run(sweep, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "8 runs done.\n"), ended.stderr
    assert {(each["target"], each["sampler"]) for each in summaries()} == {
        ("bits", "walk"),
        ("bits", "gibbs"),
    }
    assert all(0.0 <= each["metrics"]["ones"] <= 1.0 for each in summaries())
    assert table.main(ours) == 0
    assert "8 of 8 runs are done." in capsys.readouterr().out
    page = (tmp_path / "outputs" / "tables" / "ours" / "smoke" / "table.md").read_text()
    assert "| Walk" in page
    assert "| Gibbs" in page
    assert table.main([*ours[:2], "our", *ours[3:]]) == 2
    assert "did you mean 'ours'?" in capsys.readouterr().err


def test_the_rewriting_is_idempotent() -> None:
    names = Names([])
    once = with_own_classes(["target=mog", "target._target_=a.B", "+target.d=3", "sampler=gibbs"], names)
    assert once == [
        *("target=mog", "target._target_=a.B", "++target.d=3", "sampler=gibbs", "++target.name=B"),
        *("~target.components", "~target.energy"),
    ]
    assert with_own_classes(once, names) == once


def test_what_it_adds_is_not_shown() -> None:
    """The command that repeats a failed run was three times as long."""
    names = Names([])
    given = [
        "target=mog",
        "target._target_=a.B",
        "+target.d=3",
        "sampler._target_=a.Nan",
        "+sampler.rate=0.5",
    ]
    once = with_own_classes(given, names)
    assert '++sampler.name="Nan"' in once
    assert as_given(once) == given
    assert with_own_classes(as_given(once), names) == once
    mine = [*given, "sampler.name=mine"]
    assert "sampler.name=mine" in [line.lstrip("+") for line in as_given(with_own_classes(mine, names))]
