"""A user's own target and sampler, from a package outside the tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner.config.overrides import Names, with_own_classes
from tests.runner.conftest import Call

ROOT = Path(__file__).parents[3]

PACKAGE = '''
import torch
from samplers.metropolis_hastings import MetropolisHastings
from targets.randomness import uniform
from targets.spaces import Binary
from targets.target import Target


class MyTarget(Target):
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


class MySampler(MetropolisHastings):
    def __init__(self):
        super().__init__(Flip())
'''

YAML = {
    "target/my_target.yaml": "name: my_target\n_target_: mypkg.things.MyTarget\nd: 3\n",
    "sampler/my_sampler.yaml": "name: my_sampler\n_target_: mypkg.things.MySampler\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds the package `mypkg`, on this process's path."""
    folder = tmp_path / "elsewhere"
    (folder / "mypkg").mkdir(parents=True)
    (folder / "mypkg" / "__init__.py").touch()
    (folder / "mypkg" / "things.py").write_text(PACKAGE)
    for name, text in YAML.items():
        path = folder / "mypkg" / "conf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == "mypkg"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def summaries(root: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(root.glob("outputs/runs/*/summary.json"))]


SHORT = ("metric=tv", "task.steps=2000", "task.chains=20", "sampler=gibbs")


@pytest.mark.parametrize("plus", ["", "+"])
def test_a_target_by_its_class(call: Call, tmp_path: Path, package: Path, plus: str) -> None:
    ended = call("target._target_=mypkg.things.MyTarget", f"{plus}target.d=3", *SHORT)
    assert ended.status == 0, ended.err
    (summary,) = summaries(tmp_path)
    assert summary["target"] == "MyTarget"
    # 32,000 draws of 8 states: the total variation is about 0.007; 0.05 is beyond 1e-6.
    assert summary["metrics"]["tv"] < 0.05


def test_both_forms_are_one_run(call: Call, tmp_path: Path, package: Path) -> None:
    call("target._target_=mypkg.things.MyTarget", "+target.d=3", *SHORT)
    assert (
        "done before" in call("target=mos", "target._target_=mypkg.things.MyTarget", "target.d=3", *SHORT).out
    )
    assert len(summaries(tmp_path)) == 1


def test_by_yaml_on_the_search_path(call: Call, tmp_path: Path, package: Path) -> None:
    where = f"hydra.searchpath=[file://{package}/mypkg/conf]"
    ended = call(where, "target=my_target", *SHORT[:3], "sampler=my_sampler", "+target.odds=3.0")
    assert ended.status == 0, ended.err
    (summary,) = summaries(tmp_path)
    assert (summary["target"], summary["sampler"]) == ("my_target", "my_sampler")
    assert "did you mean 'my_target'?" in call(where, "target=my_targt").err
    swept = call("-m", where, "target=my_target", "sampler=my_sampler,gibbs", *SHORT[:2], "task.chains=2")
    assert (swept.status, len(summaries(tmp_path))) == (0, 3), swept.err


def test_a_sampler_by_its_class(call: Call, tmp_path: Path, package: Path) -> None:
    ended = call("target=bernoulli4", "sampler._target_=mypkg.things.MySampler", *SHORT[:3])
    assert ended.status == 0, ended.err
    assert summaries(tmp_path)[0]["sampler"] == "MySampler"


def test_a_kernel_inside_parallel_tempering(call: Call, tmp_path: Path, package: Path) -> None:
    ended = call(
        "target=bernoulli4",
        "sampler=pt_gibbs",
        "sampler.kernel._target_=mypkg.things.MySampler",
        "sampler.ladder=[1,0.5]",
        *SHORT[:2],
        "task.chains=20",
    )
    assert ended.status == 0, ended.err
    assert summaries(tmp_path)[0]["axes"] == [2]


def test_a_metric_of_ones_own(call: Call, tmp_path: Path, package: Path) -> None:
    (package / "mypkg" / "mean.py").write_text(
        "from metrics.metric import Metric\n"
        "class Mean(Metric):\n"
        "    name, unit = 'mean', 'levels'\n"
        "    def __init__(self, context, power=1):\n"
        "        super().__init__(context)\n"
        "        self.power = power\n"
        "    def update(self, step, theta, info):\n"
        "        self.last = theta.double().pow(self.power).mean((-2, -1))\n"
        "    def result(self):\n"
        "        return {'mean': self.last}\n"
    )
    own = ("+metric.mean._target_=mypkg.mean.Mean", "+metric.mean.power=2")
    ended = call("target=bernoulli4", "sampler=gibbs", "metric=tv", *own, "task.steps=10", "task.chains=2")
    assert ended.status == 0, ended.err
    assert set(summaries(tmp_path)[0]["metrics"]) == {"tv", "mean", "evaluations"}


def test_the_rewriting_is_idempotent() -> None:
    names = Names([])
    lines = ["target=mog", "target._target_=a.B", "+target.d=3", "sampler=gibbs"]
    once = with_own_classes(lines, names)
    assert once == [
        "target=mog",
        "target._target_=a.B",
        "++target.d=3",
        "sampler=gibbs",
        "++target.name=B",
        "~target.components",
        "~target.energy",
    ]
    assert with_own_classes(once, names) == once


def test_as_a_user_calls_it(tmp_path: Path, package: Path) -> None:
    """The true command line, from the user's folder, with joblib's workers out of the way."""
    command = [sys.executable, "-m", "runner", "target._target_=mypkg.things.MyTarget", "+target.d=4", *SHORT]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(package)])}
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert summaries(tmp_path)[0]["target"] == "MyTarget"
