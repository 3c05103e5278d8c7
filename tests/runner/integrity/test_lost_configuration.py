"""A run that was cut short and whose configuration cannot be read is not left out without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import status
from runner.store.run_folder import RunFolder
from tests.support.commands import assert_left_out, finished

SMALL = ("target=bernoulli4", "sampler=dmala", "metric=tv", "task.steps=20", "task.chains=3")


@pytest.mark.parametrize("left", [b"", b"a: [", b"\0\0"])
def test_it_is_counted_and_named(left: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "outputs"
    for seed in range(2):
        finished(root, *SMALL, f"seed={seed}")
    lost = next(root.glob("runs/*"))
    seed = RunFolder(lost).config()["seed"]  # type: ignore[index]
    (lost / "summary.json").unlink()
    whole = (lost / "config.yaml").read_bytes()
    (lost / "config.yaml").write_bytes(left)
    said = f"1 run that is not done is left out, {lost}: config.yaml cannot be read; repeating the sweep"
    assert_left_out(said, root, capsys)
    finished(root, *SMALL, f"seed={seed}")
    assert (lost / "config.yaml").read_bytes() == whole
    assert status.main(["runs", f"output_root={root}"]) == 0
    assert "left out" not in capsys.readouterr().out
