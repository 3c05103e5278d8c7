"""What a manifest says of the working tree: changes of code count, results do not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runner.config import values
from runner.execution import manifest
from tests.support.commands import Call, refused


def test_results_are_no_change_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runner" / "execution" / "manifest.py"
    file.parent.mkdir(parents=True)
    (tmp_path / "outputs").mkdir()
    for path in (file, tmp_path / "outputs" / "table.csv"):
        path.write_text("1")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "a")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setattr(manifest, "__file__", str(file))

    def dirty() -> object:
        manifest.git.cache_clear()
        return manifest.git()["dirty"]

    assert dirty() is False
    (tmp_path / "outputs" / "table.csv").write_text("2")
    (tmp_path / "outputs" / "new.csv").write_text("2")
    assert dirty() is False
    file.write_text("2")
    assert dirty() is True
    manifest.git.cache_clear()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"commit": "0123456789", "dirty": True}, "files differ from commit 0123456; git status names them."),
        ({"commit": None, "dirty": None}, "needs code in a git checkout with a commit, this is none."),
    ],
)
def test_changed_files_are_refused_where_they_must_be_clean(
    call: Call, monkeypatch: pytest.MonkeyPatch, state: dict[str, object], said: str
) -> None:
    monkeypatch.setattr(values, "git", lambda: state)
    for many in ("", "-m "):
        assert said in refused(call, f"{many}target=bernoulli4 sampler=gibbs scale=paper sweep.clean=true")
    assert "must be true or false, 'yes' was given" in refused(call, "sweep.clean='yes'")


def test_a_run_of_committed_files_starts_where_they_must_be_clean(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "git", lambda: {"commit": "0123456789", "dirty": False})
    run = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=2")
    assert call(*run, "sweep.clean=true").status == 0
    assert call(*run).out.count("done before") == 1
