"""Downloads, from a server on this machine that a test starts, or from one that is broken."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import socket
import struct
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from targets.datasets import caltech, idx_images, mnist_static
from targets.datasets.dataset import DataError
from targets.datasets.files import fetch
from tests.support.error_message import error_message

TEXT = {"train": b"1 0 1 1\n0 0 0 0\n", "validation": b"1 1 1 1\n", "test": b"0 1 0 1\n"}
ROWS = {"train": [[1, 0, 1, 1], [0, 0, 0, 0]], "validation": [[1, 1, 1, 1]], "test": [[0, 1, 0, 1]]}
VARIANT = {"train": 2, "validation": 1, "test": 1, "mean": 0.375, "tolerance": 1e-6, "note": None}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which this machine serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def static(root: Path, url: str) -> Any:
    files = {
        part: {"path": f"MNIST_static/{part}.amat", "url": f"{url}/{part}.amat", "sha256": sha256(data)}
        for part, data in TEXT.items()
    }
    return mnist_static.load_mnist_static(
        str(root), binarisation="binary", files=files, shape=[2, 2], variants=[VARIANT]
    )


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def files_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.fixture
def static_served(served: tuple[Path, str]) -> tuple[Path, str]:
    """The texts of static MNIST, published on this machine."""
    for part, data in TEXT.items():
        (served[0] / f"{part}.amat").write_bytes(data)
    return served


def test_missing_files_are_downloaded_once(static_served: tuple[Path, str], root: Path) -> None:
    _, url = static_served
    dataset = static(root, url)
    assert dataset.train.tolist() == ROWS["train"]
    assert dataset.validation.tolist() == ROWS["validation"]
    assert dataset.test.tolist() == ROWS["test"]
    assert files_below(root) == [f"MNIST_static/{part}.amat" for part in ("test", "train", "validation")]
    assert sorted(path.name for path in root.iterdir()) == ["MNIST_static"]
    # Now no server is asked.
    assert static(root, "http://127.0.0.1:1").train.tolist() == ROWS["train"]


def test_files_that_are_there_are_not_downloaded(static_served: tuple[Path, str], root: Path) -> None:
    folder, url = static_served
    (folder / "train.amat").unlink()
    (root / "MNIST_static").mkdir()
    (root / "MNIST_static/train.amat.gz").write_bytes(gzip.compress(TEXT["train"]))
    assert static(root, url).train.tolist() == ROWS["train"]
    assert files_below(root) == [
        f"MNIST_static/{name}" for name in ("test.amat", "train.amat.gz", "validation.amat")
    ]


def test_a_truncated_download_is_refused_and_removed(static_served: tuple[Path, str], root: Path) -> None:
    folder, url = static_served
    (folder / "train.amat").write_bytes(TEXT["train"][:-3])
    with pytest.raises(
        DataError, match=r"mnist_static is missing .*train.amat has the SHA-256 .* is published"
    ):
        static(root, url)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("broken", ["no such file", "refused", "silent"])
def test_a_broken_server_is_refused_within_seconds(
    broken: str, served: tuple[Path, str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = {
            "no such file": served[1],
            "refused": "http://127.0.0.1:1",
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
        }[broken]
        start = time.monotonic()
        file = {"path": "Caltech101Silhouettes/split1.mat", "url": f"{address}/a.mat", "sha256": "0"}
        form: Any = {"binarisation": "binary", "shape": [2, 2], "variants": [VARIANT]}
        said = error_message(DataError, caltech.load_caltech, str(root), file=file, **form)
        assert time.monotonic() - start < 5
    assert said.startswith(
        "caltech is missing and could not be downloaded (no network, or the download failed: "
    )
    assert said.endswith(f"put Caltech101Silhouettes/split1.mat (the published MATLAB file) into '{root}'")
    assert list(root.iterdir()) == []
    assert socket.getdefaulttimeout() is None


def idx_gz(images: np.ndarray[Any, Any], axes: int) -> bytes:
    header = bytes((0, 0, 8, axes)) + struct.pack(f">{axes}I", *images.shape)
    return gzip.compress(header + images.astype(np.uint8).tobytes())


@pytest.fixture
def torchvision_mnist(served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """torchvision's MNIST with two images for each part, published on this machine."""
    from torchvision.datasets import MNIST

    folder, url = served
    resources = []
    for part, value in (("train", 200), ("t10k", 100)):
        for kind, data in (
            ("images-idx3", idx_gz(np.full((2, 2, 2), value), 3)),
            ("labels-idx1", idx_gz(np.arange(2), 1)),
        ):
            name = f"{part}-{kind}-ubyte.gz"
            (folder / name).write_bytes(data)
            resources.append((name, hashlib.md5(data).hexdigest()))
    monkeypatch.setattr(MNIST, "mirrors", [f"{url}/"])
    monkeypatch.setattr(MNIST, "resources", resources)
    return folder


def mnist(root: Path) -> Any:
    return idx_images.load_idx_images(
        str(root),
        binarisation="threshold",
        torchvision="MNIST",
        places=[{"train": "MNIST/raw/train-images-idx3-ubyte", "test": "MNIST/raw/t10k-images-idx3-ubyte"}],
        shape=[2, 2],
        variants=[VARIANT | {"validation": 0, "test": 2, "mean": 200 / 255}],
    )


def test_torchvision_downloads_what_is_missing(torchvision_mnist: Path, root: Path) -> None:
    dataset = mnist(root)
    assert dataset.train.tolist() == [[1] * 4] * 2
    assert dataset.test.tolist() == [[0] * 4] * 2
    assert files_below(root) == [
        f"MNIST/raw/{part}-{kind}-ubyte"
        for part in ("t10k", "train")
        for kind in ("images-idx3", "labels-idx1")
    ]


def test_a_torchvision_download_that_fails_midway_leaves_nothing(torchvision_mnist: Path, root: Path) -> None:
    damaged = torchvision_mnist / "t10k-images-idx3-ubyte.gz"
    damaged.write_bytes(damaged.read_bytes()[:-5])
    said = error_message(DataError, mnist, root)
    assert said.startswith("mnist is missing and could not be downloaded ")
    assert "corrupted" in said
    assert list(root.iterdir()) == []


def test_a_folder_without_write_permission_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fetch.tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(DataError, match=r"\(nothing can be written there: Permission denied\)"):
        static(root, "http://127.0.0.1:1")


def test_of_two_downloads_at_once_the_second_is_discarded(root: Path) -> None:
    for ours in (b"first", b"second"):
        with fetch.temporary_folder(root) as folder:
            (folder / "images").mkdir()
            (folder / "images/1.png").write_bytes(ours)
            (folder / "images.zip").write_bytes(ours)
            fetch.move_into_place(folder / "images", root / "set/images")
            fetch.move_into_place(folder / "images.zip", root / "set/images.zip")
    assert files_below(root) == ["set/images.zip", "set/images/1.png"]
    assert {path.read_bytes() for path in (root / "set").rglob("*.*")} == {b"first"}
    assert sorted(path.name for path in root.iterdir()) == ["set"]
