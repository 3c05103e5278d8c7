"""Wheel and sdist: what is in them, and that they work in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import runner
from tests.test_project import PYPROJECT, ROOT, tracked

PACKAGES = ("conf", "metrics", "runner", "samplers", "targets")
BUILD = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
VERSION = PYPROJECT["project"]["version"]


def test_the_version_is_stated_in_one_place() -> None:
    assert runner.__version__ == VERSION
    said = [path for path in tracked() if path.suffix == ".py" and f'"{VERSION}"' in path.read_text()]
    assert said == []
    released = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## [")]
    assert released[0] == "## [Unreleased]"
    assert released[1].startswith(f"## [{VERSION}] - ")


def built(source: Path) -> Path:
    """The folder of the distributions of the tree `source`."""
    ended = subprocess.run([sys.executable, "-c", BUILD], cwd=source, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return source / "dist"


def wheel_files(folder: Path) -> dict[str, bytes]:
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/RECORD")}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist of the files that git knows."""
    pytest.importorskip("setuptools", minversion="77.0.3")
    source = tmp_path_factory.mktemp("source")
    for path in tracked():
        place = source / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return built(source)


@pytest.mark.slow
def test_the_wheel_has_all_files_of_the_packages_and_no_others(dist: Path) -> None:
    files = wheel_files(dist)
    ours = {str(path.relative_to(ROOT)) for path in tracked()}
    expected = {name for name in ours if name.split("/", 1)[0] in PACKAGES}
    assert {name for name in files if ".dist-info/" not in name} == expected
    assert {f"{name}/py.typed" for name in PACKAGES if name != "conf"} <= set(files)


@pytest.mark.slow
def test_the_sdist_gives_the_same_wheel(dist: Path, tmp_path: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(tmp_path, filter="data")
    assert wheel_files(built(tmp_path / f"rungwise-{VERSION}")) == wheel_files(dist)


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(dist: Path, tmp_path: Path) -> None:
    """What it depends on is lent by this environment, so that nothing is downloaded; the project is not."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=True, symlinks=True)
    python = home / "bin" / "python"
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    (wheel,) = dist.glob("*.whl")

    def said(*arguments: str) -> str:
        ended = subprocess.run([python, *arguments], cwd=tmp_path, env=plain, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    said("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    (site,) = home.glob("lib/*/site-packages")
    lent = [path for path in sys.path if path.endswith("site-packages")] or [sysconfig.get_paths()["purelib"]]
    (site / "lent.pth").write_text("\n".join(lent))
    where = said(
        "-c", "import conf, metrics, runner, samplers, targets; print(runner.__version__, conf.__file__)"
    )
    assert where.split() == [VERSION, str(site / "conf" / "__init__.py")]
    small = (
        "target=bernoulli4",
        "sampler=gibbs",
        "metric=[tv]",
        "task.steps=20",
        "task.chains=3",
        "output_root=results",
    )
    assert "20 steps" in said("-m", "runner", *small)
    assert "Gibbs" in said(
        "-c", "import runner; print(runner.sample('mog', 'gibbs', steps=10).source.kernel)"
    )
    assert "tv" in said("-m", "runner.table", "runs", "output_root=results")
    assert (tmp_path / "results" / "tables" / "runs").is_dir()
