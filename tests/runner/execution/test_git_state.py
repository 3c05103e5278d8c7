"""What a manifest says of the working tree: changes of code count, results do not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runner.execution import manifest


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
