"""Model files: what is written comes back bit for bit, and everything else is refused in one sentence."""

from __future__ import annotations

import json
import math
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from runner.execution.errors import UserError
from runner.models.architectures import remember_arguments
from runner.models.model_files import load_model, model_digest, save_model
from targets import RBM, Bernoulli4, ResNetEBM, Target
from targets.models.residual_network import NetworkOptions
from tests.support.commands import Call, finished, measured, one, summary
from tests.support.own_model import Couplings

METADATA: dict[str, Any] = {
    "dataset": {"name": "digits", "note": "a split of our own", "fingerprint": "0123", "shape": [8, 8]},
    "training": {"method": "cd", "cd_steps": 10, "learning_rate": 0.001},
}
SIZES: dict[str, Any] = {"n_visible": 12, "shape": [3, 4], "width": 3, "blocks": 2, "halvings": 1}

FORMATS = pytest.mark.parametrize("name", ["model.safetensors", "model.pt"])


def rbm(dtype: torch.dtype = torch.float32, seed: int = 3) -> RBM:
    return RBM(5, 3, torch.linspace(0.0, 1.0, 5, dtype=torch.float64), seed).to(dtype)


def network(dtype: torch.dtype = torch.float32, precision: str = "float32") -> ResNetEBM:
    mean = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)
    return ResNetEBM(mean=mean, seed=3, precision=precision, **SIZES).to(dtype)


def own(dtype: torch.dtype = torch.float32) -> Couplings:
    arguments = {"_target_": "tests.support.own_model.Couplings", "n_visible": 4, "scale": 0.5, "seed": 2}
    model = Couplings(4, 0.5, seed=2).to(dtype)
    remember_arguments(model, arguments)
    return model


KINDS: dict[str, tuple[Callable[[torch.dtype], Target], dict[str, Any]]] = {
    "rbm": (rbm, {"architecture": "rbm", "n_visible": 5, "n_hidden": 3}),
    "network": (network, {"architecture": "resnet_ebm", "precision": "float32", "compile": False, **SIZES}),
    "bfloat16": (lambda dtype: network(dtype, "bfloat16"), {"precision": "bfloat16"}),
    "own": (
        own,
        {
            "architecture": "tests.support.own_model.Couplings",
            "arguments": {"n_visible": 4, "scale": 0.5},
        },
    ),
}


def weights_of(model: nn.Module, **changed: Tensor) -> dict[str, Tensor]:
    """What a file holds: contiguous tensors, with ``__`` for points in the changed ones' names."""
    plain = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    return plain | {name.replace("__", "."): tensor for name, tensor in changed.items()}


def refused(path: Path, said: str) -> None:
    """Loading `path` raises one sentence that names it."""
    with pytest.raises(UserError, match=said) as raised:
        load_model(path)
    message = str(raised.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert raised.value.status == 2


# --- what comes back ------------------------------------------------------------------------------------


@FORMATS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_comes_back_bit_for_bit_with_what_is_known_of_it(
    tmp_path: Path, name: str, dtype: torch.dtype, kind: str
) -> None:
    make, expected = KINDS[kind]
    path, written = tmp_path / name, make(dtype)
    save_model(path, written, METADATA)
    read, metadata = load_model(path)
    assert type(read) is type(written)
    for key, tensor in written.state_dict().items():
        assert read.state_dict()[key].dtype == dtype
        assert torch.equal(read.state_dict()[key], tensor)
    assert model_digest(read) == model_digest(written) == metadata["fingerprint"]
    assert {key: metadata[key] for key in {**METADATA, **expected}} == {**METADATA, **expected}
    assert set(metadata["git"]) == {"commit", "dirty"}
    assert [file.name for file in tmp_path.iterdir()] == [name]
    theta = written.initial((5,), torch.Generator().manual_seed(0)).to(dtype)
    for one_, other in zip(read.log_prob_and_grad(theta), written.log_prob_and_grad(theta), strict=True):
        assert torch.equal(one_, other)
    save_model(path, read, METADATA)  # what was read can be written


def test_safetensors_keep_their_metadata_where_any_reader_finds_it(tmp_path: Path) -> None:
    save_model(tmp_path / "model.safetensors", rbm(), METADATA)
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        texts = file.metadata()
    assert json.loads(texts["architecture"]) == "rbm"
    assert json.loads(texts["dataset"])["note"] == "a split of our own"


def test_a_file_of_weights_alone_is_read(tmp_path: Path) -> None:
    """Of a network where the image is a square."""
    path = tmp_path / "model.pt"
    square = ResNetEBM(16, width=3, blocks=3, halvings=2, seed=5).float()
    for model in (rbm(), square):
        torch.save(model.state_dict(), path)
        read, metadata = load_model(path)
        assert metadata == {}
        assert model_digest(read) == model_digest(model)
    assert isinstance(read, ResNetEBM)
    assert (read.options, read.shape) == (NetworkOptions(3, 3, 2), (4, 4))
    torch.save(weights_of(network()), path)
    refused(path, "describes no resnet_ebm: shape must be given")


def test_the_digest_knows_every_bit_and_the_dtype() -> None:
    first, other = rbm(), rbm()
    with torch.no_grad():
        other.hidden_bias[1] = torch.nextafter(other.hidden_bias[1], torch.tensor(1.0))
    assert len({model_digest(model) for model in (first, other, rbm(seed=4), rbm(torch.float64))}) == 4
    assert model_digest(first) == model_digest(rbm()) == "d8b614f5c613dddb"


def test_what_the_runner_sets_on_a_model_is_not_saved(tmp_path: Path) -> None:
    written = rbm()
    before = model_digest(written)
    written.reference, written.modes = torch.ones(7, 5), torch.ones(1, 5)
    save_model(tmp_path / "model.safetensors", written, {})
    read, metadata = load_model(tmp_path / "model.safetensors")
    assert metadata["fingerprint"] == before
    assert isinstance(read, RBM)
    assert read.reference.shape == (0, 5)


# --- models of other classes ----------------------------------------------------------------------------


OWN_YAML = """
name: couplings
_target_: tests.support.own_model.Couplings
dataset: digits
scale: 0.1
training: {sampler: {}}
"""


def test_a_users_own_model_is_learned_saved_and_evaluated(call: Call, tmp_path: Path) -> None:
    """By its import path: `task=learn` trains it, `task=evaluate` reads it, and both measure the same."""
    (tmp_path / "mine" / "target").mkdir(parents=True)
    (tmp_path / "mine" / "target" / "couplings.yaml").write_text(OWN_YAML)
    ais = ("task.ais.temperatures=5", "task.ais.chains=4", "task.ais.repeats=2", "task.ais.draw_steps=2")
    learn = (
        *(f"hydra.searchpath=[file://{tmp_path}/mine]", "scale=smoke", "task=learn", "target=couplings"),
        *("sampler=gibbs", "task.iterations=3", "task.cd_steps=1", "task.chains=5", "task.batch=20"),
    )
    finished(tmp_path / "learned", *learn, *ais)
    path = one("models/*/model.safetensors", tmp_path / "learned")
    read, metadata = load_model(path)
    assert type(read) is Couplings
    assert metadata["arguments"] == {"n_visible": 64, "scale": 0.1}
    assert call("scale=smoke", "task=evaluate", f"model={path}", *ais).status == 0
    assert summary()["target"] == "Couplings/digits"
    learned, evaluated = measured(tmp_path / "learned"), measured()
    assert {"log_z", "log_likelihood"} <= set(evaluated)
    assert all(evaluated[name] == learned[name] for name in set(evaluated) - {"evaluations"})


def test_a_class_that_cannot_be_built_again_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with pytest.raises(UserError, match="A Bernoulli4 cannot be saved: only rbm, resnet_ebm can"):
        save_model(path, Bernoulli4(), {})
    model = own()
    remember_arguments(model, {"n_visible": 4, "scale": {"_target_": "os.mkdir"}})
    with pytest.raises(UserError, match="A Couplings cannot be saved: its argument scale is an object"):
        save_model(path, model, {})


# --- what is refused ------------------------------------------------------------------------------------

RBM_WEIGHTS = weights_of(rbm())
NETWORK_WEIGHTS = weights_of(network())
SECOND = "network__blocks__1__second__weight"


def without(*names: str) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in NETWORK_WEIGHTS.items() if not name.startswith(names)}


def renamed(old: str, new: str) -> dict[str, Tensor]:
    return {name.replace(old, new): tensor for name, tensor in NETWORK_WEIGHTS.items()}


BAD_RBM: dict[str, tuple[dict[str, Tensor], str]] = {
    "another architecture": ({"layer.weight": torch.ones(2, 2)}, "architecture"),
    "a tensor too few": ({k: v for k, v in RBM_WEIGHTS.items() if k != "data_mean"}, "data_mean"),
    "a tensor too many": (weights_of(rbm(), more=torch.ones(1)), "more"),
    "biases that do not fit": (weights_of(rbm(), hidden_bias=torch.zeros(4)), r"bias of the shape \(4,\)"),
    "a mean that does not fit": (
        weights_of(rbm(), data_mean=torch.full((6,), 0.5)),
        "data_mean of the shape",
    ),
    "weights that are no matrix": (weights_of(rbm(), weight=torch.zeros(5)), "n_hidden, n_visible"),
    "no units": (
        weights_of(rbm(), weight=torch.zeros(0, 5), hidden_bias=torch.zeros(0)),
        "n_hidden, n_visible",
    ),
    "half precision": ({k: v.half() for k, v in RBM_WEIGHTS.items()}, "float16"),
    "whole numbers": ({k: v.long() for k, v in RBM_WEIGHTS.items()}, "int64"),
    "two dtypes": (weights_of(rbm(), weight=torch.zeros(3, 5, dtype=torch.float64)), "float32, float64"),
    "NaN": (weights_of(rbm(), hidden_bias=torch.tensor([0.0, math.nan, 0.0])), "hidden_bias with NaN"),
    "infinity": (weights_of(rbm(), visible_bias=torch.full((5,), math.inf)), "visible_bias with NaN or"),
    "a mean of 1": (weights_of(rbm(), data_mean=torch.ones(5)), "data_mean that is not between 0 and 1"),
}
BAD_NETWORK: dict[str, tuple[dict[str, Tensor], str]] = {
    "no mean": (without("data_mean"), "another architecture: a ResNetEBM has the tensors data_mean"),
    "no last unit": (without("network.last.weight"), "holds another architecture: a ResNetEBM has"),
    "a bias too few": (without("network.blocks.0.first.bias"), "it lacks network.blocks.0.first.bias"),
    "a block without its middle": (without("network.blocks.0.second"), "it lacks network.blocks.0.second"),
    "a block elsewhere": (renamed("blocks.1", "blocks.7"), "it lacks network.blocks.1"),
    "a shortcut elsewhere": (renamed("0.shortcut", "1.shortcut"), "it lacks network.blocks.0.shortcut"),
    "a tensor too many": (weights_of(network(), network__more=torch.ones(1)), "it also has network.more"),
    "no maps": (weights_of(network(), network__first__weight=torch.ones(0, 1, 3, 3)), r"\(width, 1, 3, 3\)"),
    "a first convolution of 5 x 5": (
        weights_of(network(), network__first__weight=torch.ones(3, 1, 5, 5)),
        "first conv",
    ),
    "a mean that is a matrix": (
        weights_of(network(), data_mean=torch.full((3, 4), 0.5)),
        "data_mean of the shape",
    ),
    "a block of another width": (
        weights_of(network(), **{SECOND: torch.ones(4, 4, 3, 3)}),
        r"blocks.1.second.weight of the shape \(4, 4, 3, 3\); with .*width=3 .* must be \(3, 3, 3, 3\)",
    ),
    "an RBM": (weights_of(RBM(12, 3).float()), "a ResNetEBM has the tensors data_mean, network.first.weight"),
}


def written(path: Path, model: Target, tensors: dict[str, Tensor], **metadata: Any) -> Path:
    """A file with these tensors and the metadata of `model`, but for what is changed."""
    good = path.with_name("good.safetensors")
    save_model(good, model, METADATA)
    texts = {key: json.dumps(value) for key, value in {**load_model(good)[1], **metadata}.items()}
    save_file(tensors, path, texts)
    return path


@pytest.mark.parametrize("case", BAD_RBM)
def test_weights_alone_that_are_no_rbm_are_refused(tmp_path: Path, case: str) -> None:
    tensors, said = BAD_RBM[case]
    torch.save(tensors, tmp_path / "model.pt")
    save_file(tensors, tmp_path / "model.safetensors")
    for path in list(tmp_path.iterdir()):
        refused(path, said)


@pytest.mark.parametrize("case", BAD_NETWORK)
def test_tensors_that_are_no_network_are_refused(tmp_path: Path, case: str) -> None:
    tensors, said = BAD_NETWORK[case]
    refused(written(tmp_path / "bad.safetensors", network(), tensors), said)


@pytest.mark.parametrize(
    ("kind", "changed", "said"),
    [
        ("rbm", {"n_hidden": 4}, "says n_hidden=4, its weights have 3"),
        ("network", {"architecture": "rbm"}, "holds another architecture: an RBM has the tensors"),
        ("network", {"architecture": "mlp"}, "holds the architecture 'mlp'; only rbm, resnet_ebm and"),
        ("network", {"architecture": ["rbm"]}, r"holds the architecture \['rbm'\]"),
        ("network", {"width": 4}, "says width=4, its weights have 3"),
        ("network", {"blocks": 3}, "says blocks=3, its weights have 2"),
        ("network", {"halvings": 2}, "says halvings=2, its weights have 1"),
        ("network", {"n_visible": 16}, "says n_visible=16, its weights have 12"),
        ("network", {"shape": [4, 4]}, "describes no resnet_ebm: shape must be the height and width"),
        ("network", {"precision": "int8"}, "describes no resnet_ebm: precision must be"),
        ("network", {"fingerprint": "0" * 16}, "damaged"),
        ("network", {"schema": 99}, "the schema 99; only 1 can be loaded"),
        ("own", {"architecture": "nowhere.Mine"}, "cannot be read: .*there is no module 'nowhere'"),
        ("own", {"architecture": "os.mkdir"}, "cannot be read: architecture=os.mkdir is no targets.target"),
        ("own", {"arguments": {"n_visible": 5}}, r"has weight of the shape \(4, 4\)"),
        ("own", {"arguments": {"more": 5}}, "describes no tests.support.own_model.Couplings"),
    ],
)
def test_wrong_metadata_are_refused(tmp_path: Path, kind: str, changed: dict[str, Any], said: str) -> None:
    model = KINDS[kind][0](torch.float32)
    refused(written(tmp_path / "bad.safetensors", model, weights_of(model), **changed), said)


def test_metadata_of_others_are_refused(tmp_path: Path) -> None:
    save_file(RBM_WEIGHTS, tmp_path / "model.safetensors", {"format": "pt"})
    refused(tmp_path / "model.safetensors", "metadata")


@FORMATS
@pytest.mark.parametrize("kind", ["rbm", "network"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    """One bit of the weights is flipped, or it is cut, or garbage."""
    path, model = tmp_path / name, KINDS[kind][0](torch.float32)
    save_model(path, model, METADATA)
    content = path.read_bytes()
    flipped = bytearray(content)
    flipped[content.index(max(weights_of(model).values(), key=Tensor.numel).numpy().tobytes())] ^= 1
    path.write_bytes(flipped)
    refused(path, "damaged|truncated")
    for share in (0.0, 0.01, 0.5, 0.99):
        path.write_bytes(content[: int(share * len(content))])
        refused(path, "damaged|truncated|no file of plain weights")
    path.write_bytes(bytes(range(256)) * 40)
    refused(path, "no safetensors file|no file of")


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
        torch.save(Malicious(proof) if how == "torch" else {**RBM_WEIGHTS, "more": Malicious(proof)}, path)
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
        save_model(tmp_path / "model", rbm(), {})
