"""The project's frame: make targets, packaging, documents, and that every documented command works."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runner.models.model_files import save_model
from runner.sweep.jobs import jobs_of, requested
from targets.models.rbm import RBM
from tests.docs.pages import PAGES, Command, commands

ROOT = Path(__file__).parents[1]
FLOORS = ("runner", "metrics", "samplers", "targets")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# Distributions whose import has another name.
IMPORTED_AS = {
    "hydra-core": "hydra",
    "arviz-base": "arviz_base",
    "arviz-stats": "arviz_stats",
    "lazy-loader": "lazy_loader",
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
    "wandb-workspaces": "wandb_workspaces",
}


def make(*arguments: str, root: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs make in the project or in `root`, without the variables of a make that started these tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    for name in ("SCALE", "LAUNCHER", "OUTPUT", "ARGS", "VENV", "INSTALL", "PINNED", "PYTHON"):
        kept.pop(name, None)
    given = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(["make", *arguments, *given], cwd=root, env=kept, capture_output=True, text=True)


def tracked() -> list[Path]:
    """The files of the project: those git knows, or all that are not ignored by convention without git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("the project is not a git checkout here")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def make_targets() -> dict[str, str]:
    """The targets that `make help` lists, each with what is said of it."""
    return dict(re.findall(r"^  ([a-z0-9-]+) {2,}(\S.*)$", make("help").stdout, re.MULTILINE))


def test_help_lists_every_target_experiment_and_variable() -> None:
    listed = make("help")
    assert listed.returncode == 0
    experiments = {name.replace("_", "-") for name in options("experiment")}
    assert set(make_targets()) >= {"help", "test", "check", "audit", "exactness", "bench", *experiments}
    for variable in ("SCALE", "LAUNCHER", "OUTPUT", "ARGS", "VENV", "PINNED", "PYTHON"):
        assert variable in listed.stdout
    assert make().stdout == listed.stdout


def test_a_new_experiment_is_one_file(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "conf" / "experiment", tmp_path / "conf" / "experiment")
    written = "# @package _global_\n# A table of our own.\n#\n# More of it.\nexperiment: our_table\n"
    (tmp_path / "conf" / "experiment" / "our_table.yaml").write_text(written)
    assert f"\n  {'our-table':22} A table of our own\n" in make("help", root=tmp_path).stdout
    commands = make("--dry-run", "our-table", root=tmp_path, INSTALL="no", PYTHON="python3").stdout
    assert "-m runner -m +experiment=our_table scale=quick" in commands
    assert "-m runner.table our_table scale=quick" in commands


@pytest.mark.parametrize(("name", "hint"), [("pt-tabel1", " (did you mean 'pt-table1'?)"), ("zzz", "")])
def test_a_misspelt_target_is_refused_with_the_nearest(name: str, hint: str) -> None:
    refused = make(name)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[0] == f"There is no target '{name}'{hint}; 'make help' lists them all."


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"SCALE": "big"}, "SCALE must be smoke, quick or paper, 'big' was given"),
        ({"SCALE": "smoke quick"}, "SCALE must be smoke, quick or paper, 'smoke quick' was given"),
        ({"LAUNCHER": "cloud"}, "LAUNCHER must be basic, joblib, ray or slurm, 'cloud' was given"),
        ({"LAUNCHER": ""}, "LAUNCHER must be basic, joblib, ray or slurm, '' was given"),
    ],
)
def test_a_bad_variable_is_refused_in_one_sentence(variables: dict[str, str], sentence: str) -> None:
    said = make("pt-table1", **variables)
    assert said.returncode == 2
    assert sentence in said.stderr
    assert len(said.stderr.splitlines()) == 1


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    said = make("test", PYTHON=str(old), VENV=str(tmp_path / "venv"))
    assert said.returncode == 2
    assert "Python 3.11 or newer with its venv module is needed" in said.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize("launcher", ["basic", "joblib", "ray", "slurm"])
def test_the_launcher_is_all_that_changes(launcher: str, tmp_path: Path) -> None:
    said = make(
        "--dry-run", "pt-table1", LAUNCHER=launcher, SCALE="smoke", VENV=str(tmp_path), PYTHON="python3"
    )
    assert said.returncode == 0
    assert f"-m runner -m +experiment=pt_table1 scale=smoke hydra/launcher={launcher} " in said.stdout
    assert "-m runner.table pt_table1 scale=smoke" in said.stdout
    assert (f"'.[dev,{launcher}]'" in said.stdout) == (launcher != "basic")


def test_an_experiment_may_be_written_with_underscores(tmp_path: Path) -> None:
    given = {"INSTALL": "no", "VENV": str(tmp_path)}
    assert make("-n", "pt_table1", **given).stdout == make("-n", "pt-table1", **given).stdout != ""


@pytest.mark.parametrize(
    ("swept", "drawn", "status", "draws"),
    [
        (0, 0, 0, True),
        (1, 0, 2, True),
        (0, 1, 2, True),
        (75, 0, 2, False),
        (130, 0, 2, False),
        (2, 0, 2, False),
        (3, 0, 2, True),
    ],
)
def test_failed_runs_stop_no_table_and_a_stopped_sweep_draws_none(
    tmp_path: Path, swept: int, drawn: int, status: int, draws: bool
) -> None:
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@"\ncase "$*" in *runner.table*) exit {drawn};; esac\nexit {swept}\n')
    fake.chmod(0o755)
    said = make(
        "pt-table1",
        VENV=str(tmp_path),
        INSTALL="no",
        ARGS="task.steps=100 hydra.launcher.n_jobs=2",
        OUTPUT=str(tmp_path),
    )
    assert said.returncode == status, said
    assert ("runner.table" in said.stdout) == draws
    if draws:
        table = said.stdout.splitlines()[1]
        given = "task.steps=100 hydra.launcher.n_jobs=2"
        assert table == f"-m runner.table pt_table1 scale=quick output_root={tmp_path} {given}"


def test_the_plan_of_an_experiment_draws_no_table(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    said = make("pt-table1", VENV=str(tmp_path), INSTALL="no", ARGS="--dry-run")
    assert (said.returncode, said.stdout.count("\n")) == (0, 1), said
    assert said.stdout.endswith(" --dry-run\n")


def test_make_installs_the_pinned_versions_unless_asked_not_to(tmp_path: Path) -> None:
    given = {"VENV": str(tmp_path), "PYTHON": "python3"}
    assert (
        "pip install --quiet --constraint constraints.txt --editable '.[dev]'"
        in make("-n", "test", **given).stdout
    )
    assert "pip install --quiet  --editable '.[dev]'" in make("-n", "test", PINNED="no", **given).stdout


def test_every_dependency_is_pinned_at_a_version_that_its_bound_allows() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert list(pins) == sorted(pins)
    project = PYPROJECT["project"]
    extras = (item for extra in project["optional-dependencies"].values() for item in extra)
    for requirement in map(Requirement, [*project["dependencies"], *extras]):
        if requirement.name != project["name"]:
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_lower_bounds_are_the_constraints_of_the_lowest_versions() -> None:
    command = [sys.executable, str(ROOT / ".ci" / "lowest")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pinned = {requirement.name: requirement for requirement in map(Requirement, lines)}
    for requirement in map(Requirement, PYPROJECT["project"]["dependencies"]):
        (bound,) = requirement.specifier
        assert str(pinned[requirement.name].specifier) == f"=={bound.version}"
    assert {"ray", "pyarrow", "h5netcdf"} <= set(pinned)
    assert {"pytest", "mypy", "mkdocs"}.isdisjoint(pinned)
    said = make("--dry-run", "check", VENV="none", PINNED="lowest", PYTHON="python3").stdout
    assert "--constraint <(none/bin/python .ci/lowest)" in said


def test_hosted_ci_runs_each_python_that_is_promised() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    pythons = workflow["jobs"]["run"]["strategy"]["matrix"]["python"]
    named = [
        line.rsplit(" ", 1)[-1] for line in PYPROJECT["project"]["classifiers"] if "Python :: 3." in line
    ]
    assert pythons == named
    assert PYPROJECT["project"]["requires-python"] == f">={pythons[0]}"


def test_hosted_ci_tries_the_report_in_a_browser() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert {"run": "make test-browser"} in workflow["jobs"]["browser"]["steps"]


def test_ci_runs_what_a_user_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text().splitlines()
    targets = [set(line.split()[1:]) for line in lines if line.startswith("make ")]
    assert {"check", "pt-table1", "SCALE=smoke"} <= targets[0]
    assert targets[1:] == [{"test"}]
    assert "set -euo pipefail" in lines


def test_floors_import_downwards_only() -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    assert f"{len(contracts)} kept, 0 broken" in said.stdout


def test_no_folder_has_more_than_14_python_files() -> None:
    folders = Counter(path.parent for path in tracked() if path.suffix == ".py")
    assert [str(folder) for folder, files in folders.items() if files > 14] == []


def imports(path: Path) -> Iterator[str]:
    """Top-level names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def distributions(requirements: list[str]) -> set[str]:
    names = {re.split(r"[<>=\[ ]", requirement)[0].lower() for requirement in requirements}
    return {IMPORTED_AS.get(name, name) for name in names}


def test_every_import_is_declared() -> None:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    optional = [
        item
        for name in ("arviz", "report", "optuna", "dashboards", "jax", "slurm", "ray")
        for item in extras[name]
    ]
    declared = distributions([*project["dependencies"], *optional]) | {"conf", *FLOORS}
    used = {name for floor in FLOORS for path in (ROOT / floor).rglob("*.py") for name in imports(path)}
    assert used - declared - set(sys.stdlib_module_names) == set()


def test_every_launcher_has_its_extra() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    extra_names = {"joblib", "slurm", "ray", "arviz", "report", "browser", "optuna", "dashboards"}
    extra_names |= {"parquet", "jax"}
    assert set(extras) == {*extra_names, "dev", "docs"}
    bounds = [*PYPROJECT["project"]["dependencies"], *(item for extra in extras.values() for item in extra)]
    assert [bound for bound in bounds if any(mark in bound for mark in ("<", "~=", "==", "!="))] == []


def test_no_file_names_a_registry_host() -> None:
    hosts = ["py" + "pi.org", "python" + "hosted.org", "registry.npm" + "js.org", "deb.deb" + "ian.org"]
    pattern = re.compile("|".join(map(re.escape, hosts)) + "|" + "--(extra-)?index-" + "url", re.IGNORECASE)
    texts = {path: path.read_bytes().decode("utf-8", "ignore") for path in tracked()}
    assert [str(path) for path, text in texts.items() if pattern.search(text)] == []


def test_the_citation_is_valid_and_of_this_version() -> None:
    citation: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == PYPROJECT["project"]["version"]
    assert citation["license"] == PYPROJECT["project"]["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()


GENERATED = re.compile(r"^(\.\./)*(docs/)?(reference/(?!api)|results/(?!findings)|rooms\.md|(?!.*/).*\.md$)")
"""Links to pages that are made when the site is built, whose links `make docs` checks."""


def test_documents_link_to_files_that_exist() -> None:
    for document in {*ROOT.glob("*.md"), *PAGES}:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text()):
            made = "docs" in document.parts and GENERATED.match(link)
            assert made or (document.parent / link).exists(), f"{document} links to {link}"


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 100] == []


def test_the_two_commands_come_first() -> None:
    assert [one.words[:2] for one in commands()[:2]] == [("make", "pt-table1"), ("make", "test")]
    assert commands()[0].page == "README.md"


def test_every_documented_command_exists() -> None:
    targets = make_targets()
    for one in commands():
        if one.words[0] == "make":
            named = [word for word in one.words[1:] if "=" not in word]
            assert set(named) <= set(targets), one
        elif one.words[0] != "source":
            assert one.words[:2] == ("python", "-m"), one
            assert importlib.util.find_spec(one.words[2]), one


def runner_commands() -> list[Command]:
    """The documented ``python -m runner`` commands, those with classes of the reader's own left out."""
    found = [one for one in commands() if one.words[:3] == ("python", "-m", "runner")]
    return [one for one in found if "mypackage" not in str(one)]


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model, as `outputs/models/ID` is one after a training."""
    folder = tmp_path_factory.mktemp("model")
    save_model(folder / "model.safetensors", RBM(64, 8), {"dataset": "digits"})
    return folder


def test_the_documents_show_every_task() -> None:
    tasks = {word for one in runner_commands() for word in one.words if word.startswith("task=")}
    assert tasks >= {f"task={name}" for name in options("task") if name != "sample"}


@pytest.mark.parametrize("command", runner_commands(), ids=str)
def test_the_documented_runs_compose(command: Command, saved_model: Path) -> None:
    words = [word for word in command.words[3:] if "=" in word]
    overrides = [word.replace("outputs/models/ID", str(saved_model)) for word in words]
    request = requested(overrides, multirun="-m" in command.words[3:])
    jobs = jobs_of(replace(request, plans=request.plans[:1]))
    assert jobs
    assert all(job.run_ids for job in jobs)
    if "sweep.seeds_per_job=1" not in overrides:
        assert len(jobs) == 1


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / "conf" / group).glob("*.yaml"))
