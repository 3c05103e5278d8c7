"""A folder of recorded tables that tests may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[3] / "outputs" / "record"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An output root with a few of the recorded tables."""
    for name in ("pt_table1_paper", "pt_table1_quick", "pt_table2_sampling_paper", "edlp_figure11_paper"):
        shutil.copytree(RECORD / name, tmp_path / "record" / name)
    return tmp_path
