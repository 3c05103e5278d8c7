"""The notebooks are stored as they were executed, and their code still runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from tests.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_executed_from_top_to_bottom(path: Path) -> None:
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert "error" not in {output["output_type"] for output in outputs}
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", plt.close)
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in code_cells(path):
        exec(compile("".join(cell["source"]), path.name, "exec"), names)
    assert len(names["runs"]) in (15, 25, 30)  # type: ignore[arg-type]
