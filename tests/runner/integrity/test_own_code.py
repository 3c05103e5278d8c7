"""The user's own code belongs to the identity of a run: what it means, not how it is written."""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import runner
from runner.integrity.own_code import code_digest
from runner.library.selected_runs import selected_runs
from runner.loggers.run_names import run_name
from runner.models.architectures import remember_arguments
from runner.models.model_files import save_model
from runner.report.selection.grid import grid_of
from runner.site.index.plans import planned_ids
from runner.site.index.store_index import Index
from runner.store.short_hash import canonical, own_code
from tests.support.commands import Call

KERNEL = '''
    """A package of the user's."""
    from samplers.discrete.gibbs import Gibbs
    from .rates import RATE

    class Mine(Gibbs):
        """Gibbs under another name."""

        rate = RATE
'''

METRIC = """
    from metrics.discrepancy.tv import TV
    from .rates import RATE

    class Mine(TV):
        rate = RATE
"""

MODEL = """
    from tests.support.own_model import Couplings
    from .rates import RATE

    class Mine(Couplings):
        def log_prob(self, theta):
            return RATE * super().log_prob(theta)
"""

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes modules of the package `ownpackage`, which lies in a folder of the search path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # Python takes bytecode for a file's own by its size and the second of its change.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def files(**modules: str) -> None:
        (tmp_path / "ownpackage").mkdir(exist_ok=True)
        for name, text in {"__init__": "", **modules}.items():
            (tmp_path / "ownpackage" / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    yield files
    for name in [name for name in sys.modules if name.split(".")[0] in ("ownpackage", "besides")]:
        del sys.modules[name]


def test_code_of_the_project_of_python_and_of_packages_has_no_digest() -> None:
    for path in ("samplers.discrete.dmala.DMALA", "subprocess.Popen", "torch.nn.Identity", "nopackage.Mine"):
        assert code_digest(path) is None
    node = {"_target_": "samplers.discrete.dmala.DMALA", "file": "graph.col", "steps": 3}
    assert own_code(node) is None
    assert canonical(node) == {"_target_": "DMALA", "file": "graph.col", "steps": 3}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A = 1\n", "# why\nA = 1  # because\n\n\n"),
        ("A = (1, 2)\n", "A = (\n    1,\n    2,\n)\n"),
        ('def f() -> int:\n    """Gives 1."""\n    return 1\n', "def f() -> int:\n    return 1\n"),
        ("A = 'b'\n", 'A = "b"\n'),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(write: Write, before: str, after: str) -> None:
    write(gibbs=before)
    first = code_digest("ownpackage.gibbs.Mine")
    write(gibbs=after)
    assert code_digest("ownpackage.gibbs.Mine") == first is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A = 1\n", "A = 2\n"),
        ("A = 1\n", "A = 1.0\n"),
        ("A = 1\n", "A = True\n"),
        ("A = 'b'\n", "A = b'b'\n"),
        ("A = '#'\n", "A = '# '\n"),
        ("f(a)\ng(a)\n", "g(a)\nf(a)\n"),
        ("if a:\n    f()\n    g()\n", "if a:\n    f()\ng()\n"),
        ("A = None\n", "A = ...\n"),
        ("def f(a, /): pass\n", "def f(a): pass\n"),
        ("A = f'{a}'\n", "A = f'{a!r}'\n"),
        ("A =\n", "A ==\n"),
    ],
)
def test_whatever_else_differs_counts(write: Write, before: str, after: str) -> None:
    write(gibbs=before)
    first = code_digest("ownpackage.gibbs.Mine")
    write(gibbs=after)
    assert code_digest("ownpackage.gibbs.Mine") != first is not None


@pytest.mark.parametrize(
    "statement",
    [
        "from .rates import RATE",
        "from . import rates",
        "from ownpackage import rates",
        "from ownpackage.rates import RATE as r",
        "import ownpackage.rates as rates",
        "def late():\n    import ownpackage.rates",
        "from .between import RATE",
    ],
)
def test_modules_that_it_imports_count_and_others_do_not(write: Write, statement: str) -> None:
    write(gibbs=statement, rates="RATE = 1", between="from .rates import RATE", other="A = 1")
    first = code_digest("ownpackage.gibbs.Mine")
    write(other="A = 2")
    assert code_digest("ownpackage.gibbs.Mine") == first
    write(rates="RATE = 2")
    assert code_digest("ownpackage.gibbs.Mine") != first


def test_the_packages_that_it_lies_in_and_a_module_beside_them_count(write: Write, tmp_path: Path) -> None:
    (tmp_path / "besides.py").write_text("A = 1\n")
    write(gibbs="import besides, math, torch, targets.spaces")
    digests = [code_digest("ownpackage.gibbs.Mine")]
    (tmp_path / "besides.py").write_text("A = 2\n")
    digests.append(code_digest("ownpackage.gibbs.Mine"))
    (tmp_path / "ownpackage" / "__init__.py").write_text("import os\n")
    digests.append(code_digest("ownpackage.gibbs.Mine"))
    assert len(set(digests)) == 3


def test_two_modules_that_import_each_other_are_read_once(write: Write) -> None:
    write(gibbs="from . import rates", rates="from . import gibbs")
    assert code_digest("ownpackage.gibbs.Mine") == code_digest("ownpackage.gibbs.Other")


def test_a_process_has_the_code_that_it_has_imported(write: Write) -> None:
    write(gibbs="A = 1")
    first = code_digest("ownpackage.gibbs.Mine")
    module = importlib.import_module("ownpackage.gibbs")
    assert code_digest("ownpackage.gibbs.Mine") == first
    write(gibbs="A = 22")
    assert code_digest("ownpackage.gibbs.Mine") == first
    importlib.reload(module)
    assert code_digest("ownpackage.gibbs.Mine") != first


def test_functions_and_nested_classes_count_by_their_path(write: Write) -> None:
    write(gibbs="A = 1", rates="A = 2")
    node = {"_target_": "DMALA", "kernel": {"_target_": "ownpackage.gibbs.Mine"}, "g": ["ownpackage.rates.g"]}
    digests = {path: code_digest(path) for path in ("ownpackage.gibbs.Mine", "ownpackage.rates.g")}
    assert canonical(node) == {
        "_target_": "DMALA",
        "kernel": {"_target_": f"ownpackage.gibbs.Mine {digests['ownpackage.gibbs.Mine']}"},
        "g": [f"ownpackage.rates.g {digests['ownpackage.rates.g']}"],
    }
    assert own_code(node) not in (None, own_code(node["kernel"]), own_code(node["g"]))


def test_a_changed_sampler_is_run_anew_and_both_stand_in_the_table(write: Write, call: Call) -> None:
    sampler = "sampler._target_=ownpackage.gibbs.Mine"
    small = ("-m", "target=bernoulli4", sampler, "metric=tv", "task.steps=20", "task.chains=2", "seed=0,1")

    def again(said: str) -> None:
        for name in [name for name in sys.modules if name.startswith("ownpackage")]:
            del sys.modules[name]  # what a new process would not have
        ended = call(*small)
        assert ended.status == 0, ended.err
        assert not re.search("warning|error", ended.err)  # a slow machine shows progress
        assert said in ended.out

    write(gibbs=KERNEL, rates="RATE = 1")
    again("2 runs done.")
    write(gibbs=KERNEL.replace("under another name", "as it is"), rates="RATE = 1  # a number")
    again("0 runs done, 2 skipped (done before).")
    write(rates="RATE = 2")
    again("2 runs done.")
    runs = runner.load_runs("sampler=Mine")
    assert runs.groupby("sampler.code").size().tolist() == [2, 2]
    assert len(runner.load_runs(f"sampler.code={runs['sampler.code'].iloc[0]}")) == 2


def test_a_saved_model_is_evaluated_anew_after_a_change_of_its_class(write: Write, call: Call) -> None:
    """Whose code stands in no group of the configuration: the file names the class."""
    small = ("scale=smoke", "task=evaluate", "model=mine.pt", "task.ais.temperatures=5", "task.ais.chains=4")
    write(pairs=MODEL, rates="RATE = 1")
    model = importlib.import_module("ownpackage.pairs").Mine(64, scale=0.1)
    remember_arguments(model, {"n_visible": 64})
    save_model(Path("mine.pt"), model, {"dataset": "digits"})
    for rate, said in (("1", "5 steps"), ("1  # a number", "done before"), ("2", "5 steps")):
        write(rates=f"RATE = {rate}")
        for name in [name for name in sys.modules if name.startswith("ownpackage")]:
            del sys.modules[name]
        ended = call(*small)
        assert ended.status == 0, ended.err
        assert not re.search("warning|error", ended.err)  # a slow machine shows progress
        assert said in ended.out
    runs = runner.load_runs("task=evaluate")
    assert len(set(runs["target.code"])) == len(set(runs["log_likelihood"])) == 2
    columns = grid_of(selected_runs(["task=evaluate"]).runs, "runs").shape.columns
    assert {column.label.rpartition("code=")[2] for column in columns} == set(runs["target.code"])


def test_two_classes_of_one_module_are_two_rows(write: Write, tmp_path: Path) -> None:
    """Whose runs have the same settings and digests otherwise: a YAML was edited between."""
    write(gibbs=f"{KERNEL}\n    class Other(Mine):\n        pass\n", rates="RATE = 1")
    options = tmp_path / "options" / "sampler"
    options.mkdir(parents=True)
    small = ("target=bernoulli4", "sampler=own", "metric=tv", "task.steps=20", "task.chains=2", "seed=0,1")
    for name in ("Mine", "Other"):
        (options / "own.yaml").write_text(f"name: own\n_target_: ownpackage.gibbs.{name}\n")
        assert len(runner.run(*small, config_dir=options.parent)) == 2
    runs = runner.load_runs("sampler=own")
    assert runs.groupby(["sampler.code", "sampler._target_"]).size().tolist() == [2, 2]
    assert len(runner.load_runs("sampler._target_=ownpackage.gibbs.Other")) == 2
    found = selected_runs(["sampler=own"]).runs
    rows = [row.row for row in grid_of(found, "runs").shape.rows]
    assert rows == [f"own, _target_=ownpackage.gibbs.{name}" for name in ("Mine", "Other")]
    assert not any("ownpackage" in run_name(run.config).text for run in found)


def test_the_report_plans_an_experiment_anew_after_a_change_of_its_file(tmp_path: Path, tiny: str) -> None:
    path = tmp_path / "own.txt"
    changed = [tiny, "target=ngram", f"target.text={path}", "target.length=20", "metric=energy"]
    index = Index("a version")
    path.write_text("the cat sat on the mat and slept")
    first = planned_ids("tiny", changed, index)
    assert planned_ids("tiny", changed, index) == first
    path.write_text("the dog sat on the mat and slept")
    assert set(planned_ids("tiny", changed, index)).isdisjoint(first)


def test_the_report_plans_an_experiment_anew_after_a_change(write: Write, tiny: str) -> None:
    index, changed = Index("a version"), [tiny, "metric=tv", "metric.tv._target_=ownpackage.gibbs.Mine"]
    write(gibbs=METRIC, rates="RATE = 1")
    first = planned_ids("tiny", changed, index)
    assert planned_ids("tiny", changed, index) == first
    for name in [name for name in sys.modules if name.startswith("ownpackage")]:
        del sys.modules[name]
    write(gibbs=METRIC, rates="RATE = 2")
    assert set(planned_ids("tiny", changed, index)).isdisjoint(first)
