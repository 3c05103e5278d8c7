"""The commands run in a folder that has files with the names of our packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_our_packages_are_found_before_those_of_the_current_folder(tmp_path: Path) -> None:
    """`python -m` looks there first, a worker of joblib, a process of its own, does too."""
    for name in ("conf.py", "metrics/__init__.py", "targets/__init__.py", "samplers.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('another package')\n")
    small = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=9", "task.chains=2")
    command = (sys.executable, "-m", "runner", "-m", "hydra/launcher=joblib", *small, "seed=0,1")
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "2 runs done."), ended.stderr


@pytest.mark.parametrize("name", ["conf", "metrics", "samplers", "targets"])
def test_another_package_that_was_imported_before_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    """Somebody's own `conf.py` or `metrics/`, in front of ours in the process that imports the runner."""
    theirs = tmp_path / (f"{name}.py" if name == "conf" else f"{name}/__init__.py")
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {name}, runner"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"ImportError: rungwise needs its own package '{name}', but {theirs} was imported under that name "
        "before; rename that one, or write `import runner` above its import."
    )


def test_a_command_says_so_without_a_traceback(tmp_path: Path) -> None:
    """Here Python itself imports theirs first, from its `sitecustomize`."""
    (tmp_path / "conf.py").write_text("")
    (tmp_path / "sitecustomize.py").write_text("import conf\n")
    for module in ("runner", "runner.table", "runner.command"):
        ended = subprocess.run(
            [sys.executable, "-m", module],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
            capture_output=True,
            text=True,
        )
        assert ended.stderr.startswith(
            f"error: rungwise needs its own package 'conf', but {tmp_path / 'conf.py'}"
        )
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("line", "name"),
    [("from samplers import DMALA", "targets"), ("from metrics import TV", "samplers")],
)
def test_a_floor_above_another_package_says_so(tmp_path: Path, line: str, name: str) -> None:
    theirs = tmp_path / name / "__init__.py"
    theirs.parent.mkdir()
    theirs.write_text("")
    ended = subprocess.run(
        [sys.executable, "-c", line],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert ended.stderr.splitlines()[-1] == (
        f"ImportError: rungwise needs its own package '{name}', but {theirs} is imported under that name; "
        "rename that one, or write `import runner` above its import."
    )
