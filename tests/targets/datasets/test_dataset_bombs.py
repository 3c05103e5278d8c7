"""Small files that say, or turn out, to be large are refused before they are read."""

from __future__ import annotations

import gzip
import io
import resource
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from targets.datasets.dataset import DataError
from targets.datasets.files import idx, npz_arrays, places
from targets.datasets.files.idx import read_images
from targets.datasets.files.matlab import matrices
from targets.datasets.files.npz_arrays import read_arrays
from tests.support.error_message import error_message

MEGABYTE = 2**20


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of at most 1,000 bytes."""
    for module in (places, idx, npz_arrays):
        monkeypatch.setattr(module, "LARGEST", 1000)


def test_a_gzip_bomb_is_read_to_the_limit_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "bomb.amat.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(bytes(MEGABYTE))
    assert path.stat().st_size < 2 * MEGABYTE
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "must hold at most 1,048,576 bytes, it holds more" in error_message(
        DataError, places.file_content, path, MEGABYTE
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("zipped", [True, False])
def test_any_file_has_a_limit(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "large"
    for size, fits in ((1000, True), (1001, False)):
        path.write_bytes(gzip.compress(bytes(size)) if zipped else bytes(size))
        if fits:
            assert places.file_content(path) == bytes(size)
        else:
            assert "at most 1,000 bytes, it holds more" in error_message(DataError, places.file_content, path)


def test_an_idx_header_that_says_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images"
    path.write_bytes(struct.pack(">4I", idx.BYTES + 3, 2**31, 28, 28) + bytes(100))
    assert "must hold at most 536,870,912 bytes, its header says 1,683," in error_message(
        DataError, read_images, path
    )


def test_what_follows_the_items_of_an_idx_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    head = struct.pack(">4I", idx.BYTES + 3, 1, 2, 2)
    path.write_bytes(gzip.compress(head + bytes(20 * MEGABYTE)))
    assert "must hold at most 1,048,596 bytes, it holds more" in error_message(DataError, read_images, path)


def npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(shape: tuple[int, ...], content: bytes) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue() + content


def test_an_npz_that_asks_for_more_than_it_has_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "mine.npz", train=npy((10**12, 4), bytes(4)))
    assert "is damaged: train.npy needs 4,000,000,000," in error_message(DataError, read_arrays, path)
    whole = npz(tmp_path / "mine.npz", train=npy((1, 4), bytes(4)))
    assert read_arrays(whole)["train"].tolist() == [[0, 0, 0, 0]]


@pytest.mark.usefixtures("small_limit")
def test_an_npz_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "mine.npz", train=npy((2000,), bytes(2000)))
    assert "must hold at most 1,000 bytes, it holds 2,1" in error_message(DataError, read_arrays, path)


def test_every_damaged_npz_is_read_as_written_or_refused(tmp_path: Path) -> None:
    """600 flips of a bit: NumPy, zipfile and zlib have a dozen types of errors between them."""
    path = npz(tmp_path / "mine.npz", train=npy((4, 9), bytes(range(36))), test=npy((3, 9), bytes(27)))
    whole, chance = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for place in chance.integers(8 * len(whole), size=600):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(bytes(damaged))
        try:
            found = read_arrays(path, ("train", "test"))
        except DataError:
            refused += 1
            continue
        assert found["train"].tobytes() == bytes(range(36))
        assert found["test"].tobytes() == bytes(27)
    assert refused > 300


def test_a_matlab_file_that_says_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.io import savemat

    from targets.datasets.files import matlab

    buffer = io.BytesIO()
    savemat(buffer, {"data": np.zeros((100, 9))}, do_compression=True)
    monkeypatch.setattr(matlab, "LARGEST", 7199)
    said = error_message(DataError, matrices, tmp_path / "a.mat", buffer.getvalue(), ["data"], 9, 1)
    assert "it says that it holds 7,200 bytes, 7,199 are allowed" in said
