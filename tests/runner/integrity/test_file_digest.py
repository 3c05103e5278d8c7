"""Any changed byte of a file with its own digest is found; a file without one is read as it is."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from runner.files.atomic_files import json_bytes, read_json, write_json
from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.files.tensor_files import UnreadableTensorsError, read_tensors, write_tensors
from runner.integrity.file_digest import BLANK, KEY, FileState, file_state, with_own_digest

CONTENT = {"metrics": {"tv": 0.10283}, "notes": ['says "digest" and sha256:0', "é"], "steps": 300}


def a_checkpoint(folder: Path) -> Path:
    save_checkpoint(folder / "checkpoint.pt", {"step": 3, "theta": torch.arange(6.0)}, [{"source": "ab"}])
    return folder / "checkpoint.pt"


def some_tensors(folder: Path) -> Path:
    write_tensors(folder / "draws.safetensors", {"draws": torch.arange(6.0)}, {"report": '{"a": "b"}'})
    return folder / "draws.safetensors"


def a_summary(folder: Path) -> Path:
    write_json(folder / "summary.json", CONTENT)
    return folder / "summary.json"


@pytest.mark.parametrize("write", [a_checkpoint, some_tensors, a_summary])
def test_every_flipped_bit_and_missing_end_is_found(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    whole = write(tmp_path).read_bytes()
    assert file_state(whole) is FileState.WHOLE
    for place in range(len(whole)):
        for bit in range(8):
            wrong = bytearray(whole)
            wrong[place] ^= 1 << bit
            assert file_state(bytes(wrong)) is FileState.DAMAGED, (place, bit)
    cut_behind_the_digest = range(whole.index(BLANK[:7].encode()) + 80, len(whole))
    assert all(file_state(whole[:length]) is FileState.DAMAGED for length in cut_behind_the_digest)


def test_the_digest_is_that_of_the_file_with_zeros_in_its_place() -> None:
    content = json_bytes(CONTENT)
    said = json.loads(content)[KEY].removeprefix("sha256:")
    assert hashlib.sha256(content.replace(said.encode(), b"0" * 64)).hexdigest() == said


def test_what_has_no_place_for_a_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="no place"):
        with_own_digest(b"{}")


def test_json_is_read_without_its_digest_and_not_at_all_when_damaged(tmp_path: Path) -> None:
    path = a_summary(tmp_path)
    assert read_json(path) == CONTENT
    path.write_bytes(path.read_bytes().replace(b"0.10283", b"0.99998"))
    assert read_json(path) is None
    path.write_text(json.dumps(CONTENT))
    assert file_state(path.read_bytes()) is FileState.UNKNOWN
    assert read_json(path) == CONTENT


def test_tensors_are_read_as_written_or_not_at_all(tmp_path: Path) -> None:
    path = some_tensors(tmp_path)
    tensors, texts = read_tensors(path)
    assert torch.equal(tensors["draws"], torch.arange(6.0))
    assert texts == {"report": '{"a": "b"}'}
    path.write_bytes(path.read_bytes()[:-1] + b"\x41")
    with pytest.raises(UnreadableTensorsError, match="is damaged"):
        read_tensors(path)
    path.write_bytes(b"")
    with pytest.raises(UnreadableTensorsError, match="is truncated"):
        read_tensors(path)
    with pytest.raises(UnreadableTensorsError, match="cannot be read: No such file"):
        read_tensors(tmp_path / "absent")


def test_a_checkpoint_is_read_as_written_or_not_at_all(tmp_path: Path) -> None:
    path = a_checkpoint(tmp_path)
    whole = path.read_bytes()
    assert torch.equal(load_checkpoint(path)["theta"], torch.arange(6.0))
    # torch.load reads this flipped bit without a word.
    place = whole.index(torch.arange(6.0).numpy().tobytes()) + 8
    wrong = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    assert torch.load(io.BytesIO(wrong.split(b"\n", 1)[1]), weights_only=True)["theta"][2] != 2
    path.write_bytes(wrong)
    with pytest.raises(UnusableCheckpointError, match="is damaged"):
        load_checkpoint(path)


def test_a_digest_that_damage_made_unreadable_is_damage() -> None:
    content = json_bytes(CONTENT)
    for old, new in ((b'"sha256:', b'"sha25 :'), (b"digest_of", b"digesu_of"), (b"this_file", b"this_fole")):
        wrong = content.replace(old, new)
        assert wrong != content
        assert re.search(rb"0\.10283", wrong)
        assert file_state(wrong) is FileState.DAMAGED
