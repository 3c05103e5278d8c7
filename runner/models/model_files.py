"""Saved models: weights as safetensors (or plain ``.pt``) with what must be known of them."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import pickle
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from runner.execution.errors import UserError, listed, reason
from runner.execution.manifest import git
from runner.files.atomic_files import write_bytes
from runner.files.tensor_files import UnreadableTensorsError, read_tensors, write_tensors
from runner.integrity.file_digest import zip_is_whole
from runner.models.architectures import ARCHITECTURES, architecture, architecture_name
from runner.models.model_weights import model_of_weights
from targets.target import Target

SCHEMA = 1
"""Raised when the meaning of a model file changes."""

SUFFIXES = (".safetensors", ".pt")


def model_digest(model: nn.Module) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the weights: their names, dtypes, shapes and bytes."""
    return _digest(model.state_dict())


def save_model(path: Path, model: Target, metadata: Mapping[str, Any]) -> None:
    """Writes `model` in place of whatever `path` holds, as safetensors or, with the suffix ``.pt``, by torch.

    Args:
        metadata: what else to write, fit for JSON: ``recipe``, ``dataset`` (its name), ``binarisation``,
            ``note``, ``shape``, ``data_fingerprint``, ... Schema, architecture, the constructor's arguments,
            fingerprint and the commit are added.

    Raises:
        UserError: if the suffix is another, or models of this class cannot be saved.
        runner.execution.storage_errors.StorageError: if the disk refuses; what was there before stays.
    """
    _check_suffix(path)
    name = architecture_name(type(model))
    weights = {key: tensor.detach().cpu().contiguous() for key, tensor in model.state_dict().items()}
    described = {
        "git": git(),
        **metadata,
        "schema": SCHEMA,
        "architecture": name,
        **architecture(name, "_target_").arguments(model),
        "fingerprint": _digest(weights),
    }
    if path.suffix == ".pt":
        buffer = io.BytesIO()
        torch.save({"metadata": json.dumps(described, sort_keys=True), "weights": weights}, buffer)
        write_bytes(path, buffer.getbuffer())
    else:
        texts = {name: json.dumps(value, sort_keys=True) for name, value in described.items()}
        write_tensors(path, weights, texts)


def load_model(path: Path) -> tuple[Target, dict[str, Any]]:
    """The model in `path`, on the CPU and in the dtype that it was saved in, and its metadata.

    A ``.pt`` file may also hold the weights alone (`state_dict`); the metadata is then empty. Nothing
    that a file holds is ever executed; of a class that is not ours it holds the import path.

    Raises:
        UserError: if there is no such file, or it holds no valid model.
    """
    _check_suffix(path)
    if not path.is_file():
        raise UserError(f"There is no model file {path}.")
    weights, metadata = _read_torch(path) if path.suffix == ".pt" else _read_safetensors(path)
    if metadata:
        _check_metadata(path, metadata)
    model = model_of_weights(path, weights, metadata)
    if metadata and metadata.get("fingerprint") != model_digest(model):
        raise UserError(f"The model file {path} is damaged: its weights are not those that were written.")
    return model, metadata


def _read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        weights, texts = read_tensors(path)
    except UnreadableTensorsError as error:
        raise UserError(f"The model file {path} {error}.") from error
    try:
        return weights, {name: json.loads(text) for name, text in texts.items()}
    except ValueError as error:
        raise UserError(f"The model file {path} has metadata that this project did not write.") from error


def _read_torch(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    _check_size(path)
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
        if not zip_is_whole(path.read_bytes()):
            raise UserError(f"The model file {path} is damaged: its content is not what was written.")
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise UserError(f"The model file {path} holds something else than named tensors.")
    return {str(name): tensor for name, tensor in content.items()}, metadata


def _check_size(path: Path) -> None:
    """Refuses a ``.pt`` file with compressed parts, which torch does not write, before torch unpacks them."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return  # torch says what is wrong
    if unpacked > path.stat().st_size:
        raise UserError(f"The model file {path} is no file of torch.save: it unpacks to {unpacked:,} bytes.")


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"The model file {path} cannot be read: {reason(error)}.")


def _check_metadata(path: Path, metadata: Mapping[str, Any]) -> None:
    name, schema = metadata.get("architecture"), metadata.get("schema")
    if not isinstance(name, str) or (name not in ARCHITECTURES and "." not in name):
        raise UserError(
            f"The model file {path} holds the architecture {name!r}; "
            f"only {listed(ARCHITECTURES)} and classes by their import path can be loaded."
        )
    if schema != SCHEMA:
        raise UserError(f"The model file {path} has the schema {schema!r}; only {SCHEMA} can be loaded.")


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
