"""The three commands of the tools start, and say how they are used."""

from __future__ import annotations

import runpy
import sys

import pytest


@pytest.mark.parametrize("name", ["audit", "bench", "exactness"])
def test_a_tool_says_its_use(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [f"runner.{name}", "--help"])
    monkeypatch.delitem(sys.modules, f"runner.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"runner.{name}", run_name="__main__")
    assert not ended.value.code
    assert f"python -m runner.{name} [" in capsys.readouterr().out
