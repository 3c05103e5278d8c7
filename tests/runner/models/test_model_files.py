"""Model files: what is written comes back bit for bit, and everything else is refused in one sentence."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from runner.execution.errors import UserError
from runner.models.model_files import load_model, model_digest, save_model
from targets.models.rbm import RBM

METADATA: dict[str, Any] = {
    "dataset": {"name": "digits", "note": "a split of our own", "fingerprint": "0123", "shape": [8, 8]},
    "training": {"method": "cd", "cd_steps": 10, "learning_rate": 0.001},
}

FORMATS = pytest.mark.parametrize("name", ["model.safetensors", "model.pt"])


def model(dtype: torch.dtype = torch.float32, seed: int = 3) -> RBM:
    mean = torch.linspace(0.0, 1.0, 5, dtype=torch.float64)
    return RBM(5, 3, mean, seed).to(dtype)


def weights(**changed: Tensor) -> dict[str, Tensor]:
    return {**model().state_dict(), **changed}


@FORMATS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_comes_back_bit_for_bit_with_what_is_known_of_it(
    tmp_path: Path, name: str, dtype: torch.dtype
) -> None:
    path, written = tmp_path / name, model(dtype)
    save_model(path, written, METADATA)
    read, metadata = load_model(path)
    for key, tensor in written.state_dict().items():
        assert read.state_dict()[key].dtype == dtype
        assert torch.equal(read.state_dict()[key], tensor)
    assert model_digest(read) == model_digest(written) == metadata["fingerprint"]
    assert {key: metadata[key] for key in METADATA} == METADATA
    assert (metadata["architecture"], metadata["n_visible"], metadata["n_hidden"]) == ("rbm", 5, 3)
    assert set(metadata["git"]) == {"commit", "dirty"}
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_safetensors_keep_their_metadata_where_any_reader_finds_it(tmp_path: Path) -> None:
    save_model(tmp_path / "model.safetensors", model(), METADATA)
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        texts = file.metadata()
    assert json.loads(texts["architecture"]) == "rbm"
    assert json.loads(texts["dataset"])["note"] == "a split of our own"


def test_a_file_of_weights_alone_is_read(tmp_path: Path) -> None:
    torch.save(model().state_dict(), tmp_path / "model.pt")
    read, metadata = load_model(tmp_path / "model.pt")
    assert metadata == {}
    assert model_digest(read) == model_digest(model())


def test_the_digest_knows_every_bit_and_the_dtype() -> None:
    one, other = model(), model()
    with torch.no_grad():
        other.hidden_bias[1] = torch.nextafter(other.hidden_bias[1], torch.tensor(1.0))
    digests = {model_digest(m) for m in (one, other, model(seed=4), model(torch.float64))}
    assert len(digests) == 4
    assert model_digest(one) == model_digest(model())


def test_what_the_runner_sets_on_a_model_is_not_saved(tmp_path: Path) -> None:
    written = model()
    before = model_digest(written)
    written.reference = torch.ones(7, 5)
    written.modes = torch.ones(1, 5)
    save_model(tmp_path / "model.safetensors", written, {})
    read, metadata = load_model(tmp_path / "model.safetensors")
    assert metadata["fingerprint"] == before
    assert read.reference.shape == (0, 5)


BAD_WEIGHTS: dict[str, tuple[dict[str, Tensor], str]] = {
    "another architecture": ({"layer.weight": torch.ones(2, 2)}, "architecture"),
    "a tensor too few": ({k: v for k, v in weights().items() if k != "data_mean"}, "data_mean"),
    "a tensor too many": (weights(more=torch.ones(1)), "more"),
    "biases that do not fit": (weights(hidden_bias=torch.zeros(4)), r"hidden_bias of the shape \(4,\)"),
    "a mean that does not fit": (weights(data_mean=torch.full((6,), 0.5)), "data_mean of the shape"),
    "weights that are no matrix": (weights(weight=torch.zeros(5)), "n_hidden, n_visible"),
    "no units": (weights(weight=torch.zeros(0, 5), hidden_bias=torch.zeros(0)), "n_hidden, n_visible"),
    "half precision": ({k: v.half() for k, v in weights().items()}, "float16"),
    "whole numbers": ({k: v.long() for k, v in weights().items()}, "int64"),
    "two dtypes": (weights(weight=torch.zeros(3, 5, dtype=torch.float64)), "float32, float64"),
    "NaN": (weights(hidden_bias=torch.tensor([0.0, float("nan"), 0.0])), "hidden_bias with NaN"),
    "infinity": (weights(visible_bias=torch.full((5,), float("inf"))), "visible_bias with NaN or infinity"),
    "a mean of 1": (weights(data_mean=torch.ones(5)), "data_mean"),
}


@FORMATS
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_other_tensors_are_refused(tmp_path: Path, name: str, case: str) -> None:
    tensors, said = BAD_WEIGHTS[case]
    path = tmp_path / name
    if path.suffix == ".pt":
        torch.save(tensors, path)
    else:
        save_file(tensors, path)
    refused(path, said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"architecture": "mlp"}, "architecture 'mlp'"),
        ({"schema": 99}, "schema 99"),
        ({"n_hidden": 4}, "n_hidden=4"),
        ({"fingerprint": "0" * 16}, "damaged"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    good = tmp_path / "good.safetensors"
    save_model(good, model(), METADATA)
    texts = {key: json.dumps(value) for key, value in {**load_model(good)[1], **changed}.items()}
    save_file(model().state_dict(), tmp_path / "bad.safetensors", texts)
    refused(tmp_path / "bad.safetensors", said)


def test_metadata_of_others_is_refused(tmp_path: Path) -> None:
    save_file(model().state_dict(), tmp_path / "model.safetensors", {"format": "pt"})
    refused(tmp_path / "model.safetensors", "metadata")


@FORMATS
def test_a_flipped_bit_in_the_weights_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_model(path, model(), METADATA)
    content = bytearray(path.read_bytes())
    at = content.index(model().weight.detach().numpy().tobytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(UserError, match=r"damaged|truncated"):
        load_model(path)


@FORMATS
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    path = tmp_path / name
    save_model(path, model(), METADATA)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path, "truncated|no file of plain weights")


@FORMATS
def test_garbage_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(bytes(range(256)) * 40)
    refused(tmp_path / name, "no safetensors file|no file of")


class Malicious:
    """A pickle that creates a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("how", ["pickle", "torch", "inside"])
def test_a_pickle_is_refused_and_never_executed(tmp_path: Path, how: str) -> None:
    proof, path = tmp_path / "executed", tmp_path / "model.pt"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Malicious(proof)))
    else:
        torch.save(Malicious(proof) if how == "torch" else {**weights(), "more": Malicious(proof)}, path)
    refused(path, "no file of plain weights; nothing in it was executed")
    assert not proof.exists()
    # The file is what it claims to be: read without care it does create the folder.
    torch.load(path, weights_only=False) if how != "pickle" else pickle.loads(path.read_bytes())
    assert proof.exists()


@pytest.mark.parametrize(
    "content", [[1, 2], {"metadata": 3, "weights": {}}, {"weight": [1.0]}, torch.ones(3)]
)
def test_other_content_is_refused(tmp_path: Path, content: Any) -> None:
    torch.save(content, tmp_path / "model.pt")
    refused(tmp_path / "model.pt", "tensors|metadata")


def test_a_missing_file_a_folder_and_another_suffix_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "model.pt", "There is no model file")
    (tmp_path / "folder.pt").mkdir()
    refused(tmp_path / "folder.pt", "There is no model file")
    (tmp_path / "model.bin").write_bytes(b"")
    refused(tmp_path / "model.bin", r"must end in .safetensors or .pt")
    with pytest.raises(UserError, match="must end in"):
        save_model(tmp_path / "model", model(), {})


def refused(path: Path, said: str) -> None:
    """Loading `path` raises one sentence that names it."""
    with pytest.raises(UserError, match=said) as raised:
        load_model(path)
    message = str(raised.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith(".")
    assert raised.value.status == 2
