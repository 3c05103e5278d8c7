"""The parts of the bench: which are measured, and what is written of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.store.folder_digests import damaged_files
from runner.tools.bench import bench_command
from runner.tools.bench.bench_command import Settings, main
from runner.tools.bench.timing import BenchRows


@pytest.mark.parametrize(
    ("arguments", "measured"),
    [
        ((), ["first", "second"]),
        (("--only", "second"), ["second"]),
        (("--only", "second", "first"), ["first", "second"]),
    ],
)
def test_parts_are_measured_in_their_order_all_by_default(
    arguments: tuple[str, ...], measured: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part(name: str) -> object:
        def measure(bench: BenchRows, settings: Settings) -> None:
            bench.add(name, str(settings.rounds))

        return measure

    monkeypatch.setattr(bench_command, "PARTS", {name: part(name) for name in ("first", "second")})
    assert main([*arguments, f"output_root={tmp_path}", "--short"]) == 0
    rows = (tmp_path / "bench" / "bench.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [[name, "8"] for name in measured]
    assert damaged_files(tmp_path / "bench") == []
    (tmp_path / "bench" / "bench.csv").write_text("measured\n")
    assert damaged_files(tmp_path / "bench") == ["bench.csv"]


def test_a_part_that_is_none_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "step"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "invalid choice: 'step'" in said
    assert "experiments" in said
