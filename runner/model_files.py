"""Saved models: weights as safetensors (or plain ``.pt``) with what must be known of them."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from runner.atomic import write_bytes
from runner.errors import UserError, listed, one_sentence
from runner.manifest import git
from targets.rbm import RBM

SCHEMA = 1
"""Raised when the meaning of a model file changes."""

ARCHITECTURE = "rbm"
DTYPES = (torch.float32, torch.float64)
SUFFIXES = (".safetensors", ".pt")


def model_digest(model: RBM) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the weights: their names, dtypes, shapes and bytes."""
    return _digest(model.state_dict())


def save_model(path: Path, model: RBM, metadata: Mapping[str, Any]) -> None:
    """Writes `model` in place of whatever `path` holds, as safetensors or, with the suffix ``.pt``, by torch.

    Args:
        metadata: what else to keep, fit for JSON: ``dataset`` (name, note, fingerprint, shape),
            ``training`` (the recipe), ... Schema, architecture, sizes, fingerprint and the commit are added.

    Raises:
        UserError: if the suffix is another.
        runner.atomic.DiskFullError: if there is no room; what was there before is kept.
    """
    _check_suffix(path)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    described = {
        "git": git(),
        **metadata,
        "schema": SCHEMA,
        "architecture": ARCHITECTURE,
        "n_visible": model.n_visible,
        "n_hidden": model.n_hidden,
        "fingerprint": _digest(weights),
    }
    if path.suffix == ".pt":
        buffer = io.BytesIO()
        torch.save({"metadata": json.dumps(described, sort_keys=True), "weights": weights}, buffer)
        write_bytes(path, buffer.getbuffer())
    else:
        texts = {name: json.dumps(value, sort_keys=True) for name, value in described.items()}
        write_bytes(path, save(weights, texts))


def load_model(path: Path) -> tuple[RBM, dict[str, Any]]:
    """The model in `path`, on the CPU and in the dtype that it was saved in, and its metadata.

    A ``.pt`` file may also hold the weights alone (`RBM.state_dict`); the metadata is then empty. Nothing
    that a file holds is ever executed.

    Raises:
        UserError: if there is no such file, or it holds no whole and sound RBM.
    """
    _check_suffix(path)
    if not path.is_file():
        raise UserError(f"There is no model file {path}.")
    weights, metadata = _read_torch(path) if path.suffix == ".pt" else _read_safetensors(path)
    if metadata:
        _check_metadata(path, metadata)
    model = _build(path, weights, metadata)
    if metadata and metadata.get("fingerprint") != model_digest(model):
        raise UserError(f"The model file {path} is damaged: its weights are not those that were written.")
    return model, metadata


def _read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            texts = file.metadata() or {}
    except OSError as error:
        raise _unreadable(path, error) from error
    except SafetensorError as error:
        raise UserError(f"The model file {path} is truncated or no safetensors file.") from error
    try:
        return weights, {name: json.loads(text) for name, text in texts.items()}
    except ValueError as error:
        raise UserError(f"The model file {path} has metadata that this project did not write.") from error


def _read_torch(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        # What torch would warn of is refused below.
        with warnings.catch_warnings(action="ignore"):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        if error.errno == errno.EINVAL:  # so torch says of a file that ends too early
            raise UserError(f"The model file {path} is truncated or no file of torch.save.") from error
        raise _unreadable(path, error) from error
    except pickle.UnpicklingError as error:
        raise UserError(
            f"The model file {path} is no file of plain weights; nothing in it was executed."
        ) from error
    except Exception as error:
        raise UserError(f"The model file {path} is truncated or no file of torch.save.") from error
    metadata: dict[str, Any] = {}
    if isinstance(content, dict) and set(content) == {"metadata", "weights"}:
        try:
            metadata = dict(json.loads(content["metadata"]))
        except (TypeError, ValueError) as error:
            raise UserError(f"The model file {path} has metadata that this project did not write.") from error
        content = content["weights"]
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise UserError(f"The model file {path} holds something else than named tensors.")
    return {str(name): tensor for name, tensor in content.items()}, metadata


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"The model file {path} cannot be read: {error.strerror or one_sentence(error)}.")


def _check_metadata(path: Path, metadata: Mapping[str, Any]) -> None:
    architecture, schema = metadata.get("architecture"), metadata.get("schema")
    if architecture != ARCHITECTURE:
        raise UserError(
            f"The model file {path} holds the architecture {architecture!r}; "
            f"only {ARCHITECTURE!r} can be loaded."
        )
    if schema != SCHEMA:
        raise UserError(f"The model file {path} has the schema {schema!r}; only {SCHEMA} can be loaded.")


def _build(path: Path, weights: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> RBM:
    """An RBM with these weights.

    Raises:
        UserError: if they are not the tensors of one RBM, all of one floating-point dtype, and finite.
    """
    expected = set(RBM(1, 1).state_dict())
    if set(weights) != expected:
        raise UserError(
            f"The model file {path} holds another architecture: an RBM has the tensors {listed(expected)}, "
            f"it has {listed(list(weights)[:8])}."
        )
    weight = weights["weight"]
    if weight.dim() != 2 or 0 in weight.shape:
        raise UserError(
            f"The model file {path} has weights of the shape {tuple(weight.shape)}; "
            "an RBM's are (n_hidden, n_visible)."
        )
    n_hidden, n_visible = weight.shape
    sizes = {"n_hidden": n_hidden, "n_visible": n_visible}
    for name, size in sizes.items():
        if metadata and metadata.get(name) != size:
            raise UserError(
                f"The model file {path} says {name}={metadata.get(name)}, its weights have {size}."
            )
    dtypes = {tensor.dtype for tensor in weights.values()}
    if len(dtypes) > 1 or weight.dtype not in DTYPES:
        raise UserError(
            f"The model file {path} has tensors of {listed(str(d).removeprefix('torch.') for d in dtypes)}; "
            "all must be float32, or all float64."
        )
    model = RBM(n_visible, n_hidden).to(weight.dtype)
    for name, tensor in model.state_dict().items():
        if weights[name].shape != tensor.shape:
            raise UserError(
                f"The model file {path} has {name} of the shape {tuple(weights[name].shape)}; "
                f"beside weights {tuple(weight.shape)} it must be {tuple(tensor.shape)}."
            )
        if not bool(weights[name].isfinite().all()):
            raise UserError(f"The model file {path} has {name} with NaN or infinity in it.")
    mean = weights["data_mean"]
    if not bool(((mean > 0) & (mean < 1)).all()):
        raise UserError(f"The model file {path} has a data_mean that is not between 0 and 1.")
    model.load_state_dict(dict(weights))
    return model


def _check_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise UserError(f"A model file must end in {' or '.join(SUFFIXES)}, {path} was given.")


def _digest(weights: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(weights):
        tensor = weights[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()[:16]
