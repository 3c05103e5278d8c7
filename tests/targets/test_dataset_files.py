"""Small files made by hand in every format, read back, cut, bent and refused."""

from __future__ import annotations

import gzip
import hashlib
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.io import savemat

from targets.datasets import caltech, fetch, idx, idx_images, mnist_static, npz, omniglot
from targets.datasets.dataset import DataError

H, W = 3, 4


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(root: Path) -> None:
        raise DataError("no network here")

    monkeypatch.setattr(fetch, "scratch", refuse)


def grey(images: int, seed: int = 0, high: int = 256) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, high, (images, H, W)).astype(np.uint8)


def known(train: int, validation: int, test: int, mean: float, note: str | None = None) -> dict[str, Any]:
    return {
        "train": train,
        "validation": validation,
        "test": test,
        "mean": mean,
        "tolerance": 1e-6,
        "note": note,
    }


def idx_bytes(images: NDArray[np.uint8]) -> bytes:
    return b"\x00\x00\x08\x03" + struct.pack(">III", *images.shape) + images.tobytes()


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# idx


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx_gives_back_every_pixel_plain_or_gzipped(pack: Any, tmp_path: Path) -> None:
    images = grey(7)
    path = write(tmp_path / "images-idx3-ubyte", pack(idx_bytes(images)))
    assert np.array_equal(idx.read_images(path), images)


@pytest.mark.parametrize(
    ("bent", "sentence"),
    [
        (lambda data: data[:10], "is truncated: 10 bytes are not even the header of an idx file"),
        (lambda data: data[:-1], "is truncated: 7 x 3 x 4 pixels and a header need 100 bytes, it has 99"),
        (lambda data: data + b"\0", "is damaged: 7 x 3 x 4 pixels and a header need 100 bytes, it has 101"),
        (lambda data: b"\0\0\x08\x01" + data[4:], "its magic number is 0x00000801 instead of 0x00000803"),
        (lambda data: gzip.compress(data)[:-20], "is damaged or cannot be read"),
        (lambda data: gzip.compress(data)[:30] + b"x" * 20, "is damaged or cannot be read"),
        (lambda data: b"", "is truncated: 0 bytes"),
    ],
)
def test_a_bent_idx_file_is_refused_by_name(bent: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "images-idx3-ubyte.gz", bent(idx_bytes(grey(7))))
    with pytest.raises(DataError) as refusal:
        idx.read_images(path)
    assert f"'{path}'" in str(refusal.value)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


PLACES = [
    {"train": "MNIST/raw/train-images-idx3-ubyte", "test": "MNIST/raw/t10k-images-idx3-ubyte"},
    {"train": "subset/MNIST/raw/train-images-idx3-ubyte", "test": "subset/MNIST/raw/t10k-images-idx3-ubyte"},
]


def mnist(root: Path, variants: list[dict[str, Any]], **options: Any) -> Any:
    return idx_images.load(
        str(root),
        options.pop("binarisation", "threshold"),
        torchvision="MNIST",
        places=PLACES,
        shape=options.pop("shape", [H, W]),
        variants=variants,
        **options,
    )


def lay(root: Path, place: int, train: NDArray[np.uint8], test: NDArray[np.uint8], suffix: str = "") -> None:
    for part, images in (("train", train), ("test", test)):
        data = idx_bytes(images)
        write(root / f"{PLACES[place][part]}{suffix}", gzip.compress(data) if suffix else data)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_set_of_idx_files_is_read_split_and_binarised(
    suffix: str, transposed: bool, tmp_path: Path
) -> None:
    train, test = grey(6, 1), grey(5, 2)
    turn = (0, 2, 1) if transposed else (0, 1, 2)
    lay(tmp_path, 0, train.transpose(turn), test.transpose(turn), suffix)
    dataset = mnist(tmp_path, [known(6, 0, 5, train.mean() / 255)], transposed=transposed)
    assert (dataset.name, dataset.shape, dataset.note) == ("mnist", (H, W), None)
    assert dataset.train.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in train]
    assert dataset.test.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in test]
    assert dataset.validation.shape == (0, H * W)


def test_the_first_complete_place_is_read_and_the_counts_tell_what_it_is(tmp_path: Path) -> None:
    whole, part = grey(6, 1), grey(4, 2)
    variants = [known(6, 0, 3, whole.mean() / 255), known(4, 0, 2, part.mean() / 255, "subset: a few")]
    lay(tmp_path, 1, part, grey(2, 4))
    # Half of the first place, as where only the official test images could be had.
    write(tmp_path / PLACES[0]["test"], idx_bytes(grey(3, 3)))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (4, 2, "subset: a few")
    lay(tmp_path, 0, whole, grey(3, 3))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (6, 3, None)


def test_a_set_that_is_not_there_is_refused_with_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        mnist(tmp_path, [])
    assert str(refusal.value) == (
        "mnist is missing and could not be downloaded (no network here): put "
        "MNIST/raw/train-images-idx3-ubyte and MNIST/raw/t10k-images-idx3-ubyte "
        f"(idx files, plain or .gz) into '{tmp_path}'"
    )
    assert list(tmp_path.iterdir()) == []


def test_counts_shape_and_mean_are_those_of_a_known_set_or_refused(tmp_path: Path) -> None:
    train, test = grey(6), grey(5)
    lay(tmp_path, 0, train, test)
    mean = train.mean() / 255
    folder = tmp_path / "MNIST/raw"
    for variants, options, sentence in [
        (
            [known(7, 0, 5, mean), known(2, 0, 1, mean)],
            {},
            "mnist has 7 + 0 + 5 or 2 + 0 + 1 training, validation and test images, "
            f"'{folder}' holds 6 + 0 + 5",
        ),
        (
            [known(6, 0, 5, mean)],
            {"shape": [W, H]},
            f"mnist has images of 4 x 3 pixels, the training images in '{folder}' have 3 x 4",
        ),
        (
            [known(6, 0, 5, mean + 0.01)],
            {},
            f"the training pixels of mnist have the mean {mean + 0.01:g} (+- 1e-06), "
            f"those in '{folder}' have {mean:.4f}",
        ),
        (
            [known(6, 0, 5, mean)],
            {"binarisation": "binary"},
            "mnist is not binary: its training images hold grey values, so binarisation must be threshold "
            "or stochastic, 'binary' was given",
        ),
    ]:
        with pytest.raises(DataError) as refusal:
            mnist(tmp_path, variants, **options)
        assert str(refusal.value) == sentence


def test_only_sets_of_torchvision_that_are_idx_files_are_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"torchvision must be one of MNIST, KMNIST, .*, 'CIFAR10' was given"):
        idx_images.load(
            str(tmp_path), "threshold", torchvision="CIFAR10", places=PLACES, shape=[H, W], variants=[]
        )


# Static MNIST


def text(images: NDArray[np.uint8]) -> bytes:
    return "".join(" ".join(map(str, image.flatten())) + "\n" for image in images).encode()


def static(root: Path, variants: list[dict[str, Any]]) -> Any:
    files = {
        part: {"path": f"MNIST_static/{part}.amat", "url": "unused", "sha256": "unused"}
        for part in ("train", "validation", "test")
    }
    return mnist_static.load(str(root), "binary", files=files, shape=[H, W], variants=variants)


def test_static_mnist_is_read_from_its_texts(tmp_path: Path) -> None:
    parts = {"train": grey(6, 1, 2), "validation": grey(3, 2, 2), "test": grey(2, 3, 2)}
    for part, images in parts.items():
        zipped = part != "validation"
        data = gzip.compress(text(images)) if zipped else text(images)
        write(tmp_path / f"MNIST_static/{part}.amat{'.gz' if zipped else ''}", data)
    dataset = static(tmp_path, [known(6, 3, 2, parts["train"].mean())])
    assert dataset.train.tolist() == parts["train"].reshape(6, -1).tolist()
    assert dataset.validation.tolist() == parts["validation"].reshape(3, -1).tolist()
    assert dataset.test.tolist() == parts["test"].reshape(2, -1).tolist()


@pytest.mark.parametrize(
    ("bent", "sentence"),
    [
        (lambda data: data[:-4], "is truncated: 70 values are not whole images of 12 pixels"),
        (
            lambda data: data.replace(b"1", b"2", 1),
            "is not binary: it holds more than zeros, ones and blanks",
        ),
        (
            lambda data: data.replace(b"0 ", b"0.", 1),
            "is not binary: it holds more than zeros, ones and blanks",
        ),
        (lambda data: b"MATLAB 5.0 MAT-file" + data, "is not binary: it holds more than zeros"),
        (lambda data: gzip.compress(data)[:-9], "is damaged or cannot be read"),
    ],
)
def test_a_bent_text_is_refused_by_name(bent: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.amat", bent(text(grey(6, 1, 2))))
    with pytest.raises(DataError) as refusal:
        mnist_static.read_text(path, [H, W])
    assert f"'{path}'" in str(refusal.value)
    assert sentence in str(refusal.value)


# Caltech

SPLIT1 = "Caltech101Silhouettes/split1.mat"


def silhouettes(root: Path, variants: list[dict[str, Any]], sha256: str | None = None) -> Any:
    published = hashlib.sha256((root / SPLIT1).read_bytes()).hexdigest() if sha256 is None else sha256
    file = {"path": SPLIT1, "url": "unused", "sha256": published}
    return caltech.load(str(root), "binary", file=file, shape=[H, W], variants=variants)


def mat(root: Path, **parts: NDArray[Any]) -> Path:
    path = root / SPLIT1
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, parts)
    return path


def columns(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows as in the published file: the figure 0, one column of pixels after another."""
    return np.array([[1 - image[r, c] for c in range(W) for r in range(H)] for image in images], np.uint8)


def test_silhouettes_are_turned_upright_and_the_figure_is_one(tmp_path: Path) -> None:
    train, validation, test = grey(6, 1, 2), grey(3, 2, 2), grey(2, 3, 2)
    mat(tmp_path, train_data=columns(train), val_data=columns(validation), test_data=columns(test))
    dataset = silhouettes(tmp_path, [known(6, 3, 2, train.mean())])
    assert dataset.train.tolist() == train.reshape(6, -1).tolist()
    assert dataset.validation.tolist() == validation.reshape(3, -1).tolist()
    assert dataset.test.tolist() == test.reshape(2, -1).tolist()


def test_bent_silhouettes_are_refused_by_name(tmp_path: Path) -> None:
    good = columns(grey(4, 1, 2))
    for parts, sentence in [
        ({"train_data": good, "val_data": good}, "must hold test_data with 12 values a row, it is missing"),
        (
            {"train_data": good[:, :5], "val_data": good, "test_data": good},
            "must hold train_data with 12 values a row, it has the shape (4, 5)",
        ),
        ({"train_data": good, "val_data": good + 1, "test_data": good}, "caltech is not binary: val_data in"),
    ]:
        path = mat(tmp_path, **parts)
        with pytest.raises(DataError) as refusal:
            silhouettes(tmp_path, [])
        assert sentence in str(refusal.value)
        assert f"'{path}'" in str(refusal.value)


@pytest.mark.parametrize("cut", [0, 60, 140, 200, -30])
def test_a_cut_matlab_file_is_refused_by_name(cut: int, tmp_path: Path) -> None:
    """SciPy would crash on some of them, and take the process with it."""
    good = columns(grey(40, 1, 2))
    path = mat(tmp_path, train_data=good, val_data=good, test_data=good)
    published = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError) as refusal:
        silhouettes(tmp_path, [], published)
    assert str(refusal.value) == (
        f"'{path}' is damaged or another file: it has the SHA-256 "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}, {published} is published"
    )


# Omniglot

ORIGINALS = {"train": "omniglot-py/images_background.zip", "test": "omniglot-py/images_evaluation.zip"}
DERIVED = "OMNIGLOT/omniglot_28x28.npz"


def strokes(root: Path, variants: list[dict[str, Any]], shape: tuple[int, int] = (H, W)) -> Any:
    return omniglot.load(
        str(root), "threshold", originals=ORIGINALS, derived=DERIVED, shape=list(shape), variants=variants
    )


def test_derived_omniglot_has_bright_ink_and_tests_on_the_evaluation_set(tmp_path: Path) -> None:
    train, test = grey(6, 1), grey(5, 2)
    (tmp_path / "OMNIGLOT").mkdir()
    np.savez(tmp_path / DERIVED, train_images=train, test_images=test, train_labels=np.arange(6))
    variants = [known(6, 0, 5, -1.0), known(6, 0, 5, train.mean() / 255, "derived")]
    dataset = strokes(tmp_path, variants)
    assert (dataset.name, dataset.note) == ("omniglot", "derived")
    assert dataset.train.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in train]
    assert dataset.test.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in test]


def test_original_omniglot_is_read_through_torchvision_and_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.datasets import Omniglot

    monkeypatch.setattr(Omniglot, "_check_integrity", lambda self: True)
    rng = np.random.default_rng(0)
    paper = {}
    for part, path in ORIGINALS.items():
        write(tmp_path / path, b"")
        paper[part] = rng.integers(0, 2, (4, H, W)).astype(np.uint8)
        for number, image in enumerate(paper[part]):
            character = tmp_path / path.removesuffix(".zip") / "Alphabet" / f"character{number // 2:02d}"
            character.mkdir(parents=True, exist_ok=True)
            # Four times as large, one grey value a block: bilinear averages give back which were black.
            large = np.kron(255 * image, np.ones((4, 4), np.uint8)).astype(np.uint8)
            Image.fromarray(large).convert("1").save(character / f"{number:04d}.png")
    ink = 1.0 - paper["train"].mean()
    variants = [known(4, 0, 4, ink) | {"tolerance": 0.2, "note": "original"}, known(4, 0, 4, -1.0)]
    dataset = strokes(tmp_path, variants)
    assert dataset.note == "original"
    assert dataset.train.tolist() == (1 - paper["train"]).reshape(4, -1).tolist()
    assert dataset.test.tolist() == (1 - paper["test"]).reshape(4, -1).tolist()


def test_bent_omniglot_is_refused_by_name(tmp_path: Path) -> None:
    variants = [known(6, 0, 5, 0.0), known(6, 0, 5, 0.0)]
    path = tmp_path / DERIVED
    path.parent.mkdir()
    np.savez(path, train_images=grey(6))
    with pytest.raises(DataError, match=r"omniglot_28x28.npz' is damaged.*test_images"):
        strokes(tmp_path, variants)
    np.savez(path, train_images=grey(6) / 255, test_images=grey(5))
    with pytest.raises(DataError, match="must hold train_images as bytes along three axes, it is float64"):
        strokes(tmp_path, variants)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"omniglot_28x28.npz' is damaged"):
        strokes(tmp_path, variants)
    for archive in ORIGINALS.values():
        with zipfile.ZipFile(write(tmp_path / archive, b""), "w"):
            pass
    with pytest.raises(DataError, match=r"the archives in '.*omniglot-py' are damaged or not unpacked"):
        strokes(tmp_path, variants)


# A user's own file


def test_own_images_flat_or_not_with_or_without_validation(tmp_path: Path) -> None:
    train, test = grey(6, 1, 2), grey(5, 2, 2)
    path = tmp_path / "mine.npz"
    np.savez(path, train=train.astype(np.float32), test=test.astype(bool))
    dataset = npz.load(None, "binary", path=str(path))
    assert (dataset.name, dataset.shape, dataset.note) == ("mine", (H, W), None)
    assert dataset.train.tolist() == train.reshape(6, -1).tolist()
    assert dataset.test.tolist() == test.reshape(5, -1).tolist()
    assert dataset.validation.shape == (0, H * W)
    for pixels, shape in [(9, (3, 3)), (12, (1, 12))]:
        flat = {part: grey(4, 3, 2).reshape(4, -1)[:, :pixels] for part in ("train", "validation", "test")}
        np.savez_compressed(path, **flat)
        dataset = npz.load(None, "binary", path=str(path))
        assert dataset.shape == shape
        assert dataset.validation.tolist() == flat["validation"].tolist()


def test_a_pickle_in_an_own_file_is_refused_and_never_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    path = tmp_path / "mine.npz"
    np.savez(path, train=np.array([Trap()], dtype=object), test=grey(2, 1, 2))
    with pytest.raises(DataError, match=r"mine.npz' is damaged or not an .npz file of numbers"):
        npz.load(None, "binary", path=str(path))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (
            {"train": grey(2, 0, 2)},
            "must hold the arrays train, test and, if there is one, validation, it holds train",
        ),
        ({"train": grey(2, 0, 2), "test": grey(2, 0, 2), "valid": grey(2)}, "it holds test, train, valid"),
        ({}, "it holds nothing"),
        (
            {"train": grey(2, 0, 2), "test": grey(2) | 2},
            "is not binary: test holds values other than 0 and 1",
        ),
        ({"train": grey(2, 0, 2), "test": np.full((1, H, W), np.nan)}, "is not binary: test holds values"),
        ({"train": grey(2, 0, 2), "test": np.zeros(3)}, "test is float64 of the shape (3,)"),
        ({"train": grey(2, 0, 2), "test": np.zeros((3, 4), "U1")}, "test is <U1 of the shape (3, 4)"),
        ({"train": grey(2, 0, 2), "test": np.zeros((2, W, H))}, "must have one shape, test has (4, 3)"),
        ({"train": grey(0), "test": grey(2, 0, 2)}, "must hold at least one training image"),
    ],
)
def test_own_images_of_another_form_are_refused_by_name(
    arrays: dict[str, NDArray[Any]], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError) as refusal:
        npz.load(None, "binary", path=str(path))
    assert sentence in str(refusal.value)
    assert f"'{path}'" in str(refusal.value)


def test_an_own_file_that_is_missing_cut_or_something_else_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    with pytest.raises(DataError, match=r"mine.npz' is missing: target.dataset must name an .npz file"):
        npz.load(None, "binary", path=str(path))
    np.savez(path, train=grey(50, 0, 2), test=grey(50, 0, 2))
    whole = path.read_bytes()
    single = tmp_path / "single.npy"
    np.save(single, grey(2))
    for data in (
        b"",
        b"no archive",
        whole[:-30],
        whole[:100],
        whole[:200] + b"?" * 9 + whole[209:],
        single.read_bytes(),
    ):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"mine.npz' is damaged or not an .npz file of numbers"):
            npz.load(None, "binary", path=str(path))
    with pytest.raises(
        DataError, match=r"binarisation must be binary for '.*mine.npz', 'threshold' was given"
    ):
        npz.load(None, "threshold", path=str(path))


# Any byte may be wrong


def test_a_file_with_any_wrong_byte_is_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    """No damage leads to anything but a data set or a `DataError`; 150 places in each of four formats."""
    part = grey(6, 1, 2)
    idx_file = write(tmp_path / "images-idx3-ubyte.gz", gzip.compress(idx_bytes(part)))
    mat_file = mat(tmp_path, train_data=columns(part), val_data=columns(part), test_data=columns(part))
    published = hashlib.sha256(mat_file.read_bytes()).hexdigest()
    npz_file = tmp_path / "mine.npz"
    np.savez_compressed(npz_file, train=part, test=part)
    derived = tmp_path / DERIVED
    derived.parent.mkdir()
    np.savez(derived, train_images=part, test_images=part)
    reads: list[tuple[Path, Any]] = [
        (idx_file, lambda: idx.read_images(idx_file)),
        (mat_file, lambda: silhouettes(tmp_path, [known(6, 6, 6, part.mean())], published)),
        (npz_file, lambda: npz.load(None, "binary", path=str(npz_file))),
        (derived, lambda: strokes(tmp_path, [known(6, 0, 6, part.mean() / 255)] * 2)),
    ]
    rng = np.random.default_rng(0)
    for path, read in reads:
        whole = path.read_bytes()
        sentences = []
        for _ in range(150):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
            path.write_bytes(damaged)
            try:
                read()
            except DataError as error:
                sentences.append(str(error))
        assert len(sentences) > 15
        assert not any("\n" in sentence for sentence in sentences)
        path.write_bytes(whole)
        read()
