"""The published numbers of all files, in the order of the page, whatever the tables are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.verdicts import cells
from runner.verdicts.cells import published_blocks

HEAD = "paper,table,setting,sampler,metric,mean,std,unit_scale\n"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that stands for conf/published."""
    monkeypatch.setattr(cells, "CONF", tmp_path)
    (tmp_path / "published").mkdir()
    return tmp_path / "published"


def test_tables_stand_in_the_order_of_their_names(published: Path) -> None:
    """A table that is not called by one whole number left no ledger at all."""
    ordered = ["Table 2", "Table 2.1", "Table 10", "Table S1", "Appendix", "Figure 3a", "Figure 4"]
    lines = "".join(f"own,{table},MoG,Gibbs,TV,0.2,,1\n" for table in sorted(ordered))
    (published / "own.csv").write_text(HEAD + lines)
    found = sorted(published_blocks(), key=lambda block: block.table_order)
    assert [block.table for block in found] == ordered


def test_a_number_in_two_files_is_one_sentence(published: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (published / name).write_text(f"{HEAD}own,Table 1,MoG,Gibbs,TV,0.{len(name)},,1\n")
    with pytest.raises(UserError, match=r"^b.csv: own, Table 1, MoG, Gibbs, TV must stand once"):
        published_blocks()
