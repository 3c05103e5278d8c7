"""Files of deep energy-based models: bit for bit there and back; all else refused in one sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from runner.execution.errors import UserError
from runner.models.model_files import load_model, model_digest, save_model
from targets.models.rbm import RBM
from targets.models.residual_network import NetworkOptions
from targets.models.resnet_ebm import ResNetEBM
from targets.synthetic.bernoulli4 import Bernoulli4

FORMATS = pytest.mark.parametrize("name", ["model.safetensors", "model.pt"])
ARGUMENTS: dict[str, Any] = {
    "n_visible": 12,
    "shape": [3, 4],
    "width": 3,
    "blocks": 2,
    "halvings": 1,
    "precision": "float32",
    "compile": False,
}


def model(dtype: torch.dtype = torch.float32, seed: int = 3, **changed: Any) -> ResNetEBM:
    mean = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)
    return ResNetEBM(**{"mean": mean, "seed": seed, **ARGUMENTS, **changed}).to(dtype)


def weights(**changed: Tensor) -> dict[str, Tensor]:
    """The tensors of a model, with ``__`` for the points in the names of those that are changed."""
    renamed = {name.replace("__", "."): tensor for name, tensor in changed.items()}
    return {**plain(model()), **renamed}


def plain(module: torch.nn.Module) -> dict[str, Tensor]:
    """What a file holds: contiguous tensors."""
    return {name: tensor.contiguous() for name, tensor in module.state_dict().items()}


def without(*names: str) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in weights().items() if not name.startswith(names)}


def written(path: Path, tensors: dict[str, Tensor], **metadata: Any) -> Path:
    """A file with these tensors and a sound model's metadata, but for what is changed."""
    good = path.with_name("good.safetensors")
    save_model(good, model(), {})
    texts = {key: json.dumps(value) for key, value in {**load_model(good)[1], **metadata}.items()}
    save_file(tensors, path, texts)
    return path


@FORMATS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_model_comes_back_bit_for_bit(
    tmp_path: Path, name: str, dtype: torch.dtype, precision: str
) -> None:
    path, before = tmp_path / name, model(dtype, precision=precision)
    save_model(path, before, {"dataset": "made up", "shape": [3, 4]})
    after, metadata = load_model(path)
    assert isinstance(after, ResNetEBM)
    for key, tensor in before.state_dict().items():
        assert after.state_dict()[key].dtype == dtype
        assert torch.equal(after.state_dict()[key], tensor)
    assert model_digest(after) == model_digest(before) == metadata["fingerprint"]
    expected = {**ARGUMENTS, "precision": precision, "architecture": "resnet_ebm", "dataset": "made up"}
    assert {key: metadata[key] for key in expected} == expected
    assert (after.shape, after.options.precision) == ((3, 4), precision)
    theta = before.initial((5,), torch.Generator().manual_seed(0)).to(dtype)
    for one, other in zip(after.log_prob_and_grad(theta), before.log_prob_and_grad(theta), strict=True):
        assert torch.equal(one, other)


def test_weights_alone_are_read_where_the_image_is_a_square(tmp_path: Path) -> None:
    square = ResNetEBM(16, width=3, blocks=3, halvings=2, seed=5).float()
    torch.save(square.state_dict(), tmp_path / "model.pt")
    read, metadata = load_model(tmp_path / "model.pt")
    assert isinstance(read, ResNetEBM)
    assert metadata == {}
    assert model_digest(read) == model_digest(square)
    assert (read.options, read.shape) == (NetworkOptions(3, 3, 2), (4, 4))
    torch.save(weights(), tmp_path / "model.pt")
    refused(tmp_path / "model.pt", "describes no resnet_ebm: shape must be given")


def test_the_digest_of_an_rbm_is_what_it_always_was() -> None:
    rbm = RBM(5, 3, torch.linspace(0.0, 1.0, 5, dtype=torch.float64), 3).float()
    assert model_digest(rbm) == "d8b614f5c613dddb"


def test_a_model_that_is_neither_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="A Bernoulli4 cannot be saved: only rbm, resnet_ebm can"):
        save_model(tmp_path / "model.pt", Bernoulli4(), {})


SECOND = "network__blocks__1__second__weight"
BAD_WEIGHTS: dict[str, tuple[dict[str, Tensor], str]] = {
    "no mean": (without("data_mean"), "another architecture: a ResNetEBM has the tensors data_mean"),
    "no last unit": (without("network.last.weight"), "holds another architecture: a ResNetEBM has"),
    "a bias too few": (without("network.blocks.0.first.bias"), "it lacks network.blocks.0.first.bias"),
    "a block without its middle": (without("network.blocks.0.second"), "it lacks network.blocks.0.second"),
    "a tensor too many": (weights(network__more=torch.ones(1)), "it also has network.more"),
    "no maps": (weights(network__first__weight=torch.ones(0, 1, 3, 3)), r"\(width, 1, 3, 3\)"),
    "a first convolution of 5 x 5": (weights(network__first__weight=torch.ones(3, 1, 5, 5)), "first conv"),
    "a mean that is a matrix": (weights(data_mean=torch.full((3, 4), 0.5)), "data_mean of the shape"),
    "a block of another width": (
        weights(**{SECOND: torch.ones(4, 4, 3, 3)}),
        r"blocks.1.second.weight of the shape \(4, 4, 3, 3\); with .*width=3 .* must be \(3, 3, 3, 3\)",
    ),
    "NaN": (weights(**{SECOND: torch.full((3, 3, 3, 3), math.nan)}), "second.weight with NaN or infinity"),
    "infinity": (weights(network__last__bias=torch.tensor([math.inf])), "last.bias with NaN or infinity"),
    "a mean of 1": (weights(data_mean=torch.ones(12)), "data_mean that is not between 0 and 1"),
    "half precision": ({k: v.half() for k, v in weights().items()}, "float16"),
    "two dtypes": (weights(network__last__bias=torch.zeros(1).double()), "float32, float64"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_other_tensors_are_refused(tmp_path: Path, case: str) -> None:
    tensors, said = BAD_WEIGHTS[case]
    refused(written(tmp_path / "bad.safetensors", tensors), said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"architecture": "rbm"}, "holds another architecture: an RBM has the tensors"),
        ({"architecture": "mlp"}, "holds the architecture 'mlp'; only rbm, resnet_ebm can be loaded"),
        ({"architecture": ["rbm"]}, r"holds the architecture \['rbm'\]"),
        ({"width": 4}, "says width=4, its weights have 3"),
        ({"blocks": 3}, "says blocks=3, its weights have 2"),
        ({"halvings": 2}, "says halvings=2, its weights have 1"),
        ({"n_visible": 16}, "says n_visible=16, its weights have 12"),
        ({"shape": [4, 4]}, "describes no resnet_ebm: shape must be the height and width"),
        ({"precision": "int8"}, "describes no resnet_ebm: precision must be"),
        ({"fingerprint": "0" * 16}, "damaged"),
        ({"schema": 99}, "schema 99"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    refused(written(tmp_path / "bad.safetensors", weights(), **changed), said)


def test_an_rbm_that_is_called_a_network_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "bad.safetensors", plain(RBM(12, 3).float()))
    refused(path, "another architecture: a ResNetEBM has the tensors data_mean, network.first.weight")


def test_blocks_in_another_place_are_refused(tmp_path: Path) -> None:
    moved = {name.replace("blocks.1", "blocks.7"): tensor for name, tensor in weights().items()}
    refused(written(tmp_path / "bad.safetensors", moved), "it lacks network.blocks.1")
    moved = {name.replace("0.shortcut", "1.shortcut"): tensor for name, tensor in weights().items()}
    refused(written(tmp_path / "bad.safetensors", moved), "it lacks network.blocks.0.shortcut")


@FORMATS
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    path = tmp_path / name
    save_model(path, model(), {})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path, "truncated|no file of plain weights")


@FORMATS
def test_a_flipped_bit_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_model(path, model(), {})
    content = bytearray(path.read_bytes())
    at = content.index(plain(model())["network.blocks.1.second.weight"].numpy().tobytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))
    refused(path, "damaged|truncated")


def refused(path: Path, said: str) -> None:
    """Loading `path` raises one sentence that names it."""
    with pytest.raises(UserError, match=said) as raised:
        load_model(path)
    message = str(raised.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith(".")
