"""A run that was cut short and whose configuration cannot be read is not left out without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import load_runs, status
from runner.execution.errors import UserError
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


def test_the_reader_of_the_library_warns_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = finished(tmp_path / "outputs", *SMALL, "seed=[0,1,2]")
    first, second, third = (path / "config.yaml" for path in sorted(root.glob("runs/*")))
    capsys.readouterr()
    assert len(load_runs(output_root=root)) == 3
    assert capsys.readouterr().err == ""
    second.write_bytes(b"a: [")
    (second.parent / "summary.json").unlink()
    assert len(load_runs(output_root=root)) == 2
    said = "cannot be read is left out, such as"
    assert capsys.readouterr().err == f"warning: 1 run whose config.yaml {said} {second.parent}.\n"
    third.write_bytes(b"")
    assert len(load_runs(output_root=root)) == 1
    said = "cannot be read are left out, such as"
    assert capsys.readouterr().err == f"warning: 2 runs whose config.yaml {said} {second.parent}.\n"
    first.unlink()
    with pytest.raises(UserError, match=rf"^No config.yaml .* can be read, such as that of {root}"):
        load_runs(output_root=root)
